import { cut } from '#lib/text.ts';
import type { MailContent, MailPart } from './message.ts';

const NAMED = 3;
const NAME_LENGTH = 40;

/** Joins the parts about several projects into one mail. */
export function joinParts(parts: readonly MailPart[]): MailContent {
  const [first] = parts;
  if (first !== undefined && parts.length === 1) {
    return {
      subject: `${countsOf(parts)}: ${first.projectName}`,
      lines: [`What is new in the project "${first.projectName}".`],
      sections: first.sections,
      path: `/p/${first.projectId}`,
      button: 'Open Home',
    };
  }
  return {
    subject: `${countsOf(parts)}: ${namesOf(parts)}`,
    lines: [`What is new in ${parts.length} projects.`],
    sections: parts.flatMap(({ projectId, projectName, sections }) =>
      sections.map((section) => ({
        ...section,
        heading: `${projectName}: ${section.heading}`,
        path: `/p/${projectId}`,
      })),
    ),
    // This path leads to the project that was open last.
    path: '/',
    button: 'Open Home',
  };
}

function countsOf(parts: readonly MailPart[]): string {
  const sum = (count: (part: MailPart) => number) => parts.reduce((total, part) => total + count(part), 0);
  const results = sum((part) => part.results);
  const needs = sum((part) => part.needs);
  const more = parts.some((part) => part.more) ? ' and more' : '';
  return [
    ...(results === 0 ? [] : [`${results.toLocaleString('en')} new result${results === 1 ? '' : 's'}${more}`]),
    ...(needs === 0 ? [] : [`${needs} to look at`]),
  ].join(', ');
}

function namesOf(parts: readonly MailPart[]): string {
  const names = parts
    .slice(0, NAMED)
    .map(({ projectName }) =>
      projectName.length > NAME_LENGTH ? `${cut(projectName, NAME_LENGTH - 1)}…` : projectName,
    );
  const left = parts.length - names.length;
  return `${names.join(', ')}${left > 0 ? ` and ${left} more` : ''}`;
}
