import type { Mail } from '#lib/mail/index.ts';
import type { ClaimedMessage } from './claim.ts';
import { isUnsubscribable, type MailContent } from './message.ts';
import type { UnsubscribeLinks } from './unsubscribe-links.ts';

/** Composes a message's mail: its text, the link to its page, and the links to unsubscribe. */
export function compose(
  message: ClaimedMessage,
  to: string,
  { uiOrigin, links }: { uiOrigin: string; links: UnsubscribeLinks },
): Mail {
  const content: MailContent = message.content ?? { subject: '', lines: [] };
  const { subject, lines, path, replyTo } = content;
  const stop = unsubscribing(message, links);
  const paragraphs = [
    ...lines,
    ...(path === undefined ? [] : [`${uiOrigin}${path}`]),
    ...stop.lines,
  ];
  return {
    id: message.id,
    to,
    // A name that somebody has chosen stays in its line.
    subject: subject.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' '),
    text: `${paragraphs.join('\n\n')}\n`,
    ...(replyTo === undefined ? {} : { replyTo }),
    ...(stop.url === undefined ? {} : { unsubscribeUrl: stop.url }),
  };
}

function unsubscribing(
  { kind, userId, projectId, routineId }: ClaimedMessage,
  links: UnsubscribeLinks,
): { lines: string[]; url?: string } {
  if (!isUnsubscribable(kind) || userId === null || projectId === null) return { lines: [] };
  const ofProject = links.of({ userId, scopeId: projectId });
  const lines = ['--', `No more mail about anything in this project: ${ofProject}`];
  if (routineId === null) return { lines, url: ofProject };
  const ofRoutine = links.of({ userId, scopeId: routineId });
  return {
    lines: ['--', `No more mail about this routine: ${ofRoutine}`, ...lines.slice(1)],
    url: ofRoutine,
  };
}
