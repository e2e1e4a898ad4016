import { changesInWords } from '#core/authoring/outcomes/index.ts';
import type { Attention } from '#core/upkeep/attention/index.ts';
import type { MailEntry, MailPart, MailSection } from '#core/foundation/outbox/index.ts';
import type { Result, ResultKind, Unread } from '#core/execution/results/index.ts';
import { RUN_REASONS, type RunReason } from '#core/execution/run-states/index.ts';
import { capitalized, cut, shownText, withoutPipes, withoutUnseen } from '#lib/text.ts';

/** Number of results that a digest examines. The digest shows the latest result of each routine. */
export const MOST_RESULTS = 100;
/** The most routines that a mail shows, over all its projects. */
const MOST_ROUTINES = 25;
const FEWEST_ROUTINES = 3;
const LINES_OF_RESULT = 3;
const DIFFERENCES_OF_RESULT = 4;
const LINE_LENGTH = 200;
const NAME_LENGTH = 120;

/** Tells whether there is something to mail. A problem that an earlier digest has reported does not count as news. */
export function isNews(found: {
  readonly unread: Unread;
  readonly attention: Attention;
  readonly since: Date;
}): boolean {
  const { stopped, signIns } = found.attention;
  return found.unread.worthReading > 0 || [...stopped, ...signIns].some(({ updatedAt }) => updatedAt >= found.since);
}

interface DigestContent {
  readonly projectId: string;
  readonly projectName: string;
  readonly timezone: string;
  readonly unread: Unread;
  /** The newest results that are worth reading, the latest first. */
  readonly results: readonly Result[];
  readonly attention: Attention;
  /** The most projects that share the mail. */
  readonly projects: number;
}

/** Writes the part of a digest about one project: new results, problems, and the number of results without news. */
export function digestPart(content: DigestContent): MailPart {
  const { projectId, unread, attention } = content;
  const needs = attentionEntries(attention, projectId);
  const sections: MailSection[] = [
    newResults(content),
    {
      heading: 'Needs attention',
      entries: needs,
      ...(attention.truncated ? { note: 'There is more on Home.' } : {}),
    },
  ];
  return {
    projectId,
    projectName: oneLine(content.projectName, NAME_LENGTH),
    results: unread.worthReading,
    more: unread.more,
    needs: needs.length,
    sections: sections.filter(({ entries, note }) => entries.length > 0 || note !== undefined),
  };
}

function newResults(content: DigestContent): MailSection {
  const { projectId, timezone, unread, results, projects } = content;
  const most = Math.max(Math.floor(MOST_ROUTINES / projects), FEWEST_ROUTINES);
  const grouped = [...Map.groupBy(results, ({ routineId }) => routineId).values()];
  // List replaced results last, as Home does.
  const isOver = ([latest]: readonly Result[]) => latest?.overtakenBy != null;
  const groups = [...grouped.filter((group) => !isOver(group)), ...grouped.filter(isOver)];
  const left = unread.worthReadingRoutines - Math.min(groups.length, most);
  const notes = [
    ...(left > 0 ? [`${plural(left, 'more routine')} with news on Home.`] : []),
    ...(unread.unchangedRoutines > 0 ? [`${plural(unread.unchangedRoutines, 'routine')} had nothing new.`] : []),
  ];
  return {
    heading: 'New results',
    entries: groups
      .slice(0, most)
      .flatMap(([latest, ...earlier]) =>
        latest === undefined ? [] : [resultEntry(latest, earlier.length, { projectId, timezone })],
      ),
    ...(notes.length === 0 ? {} : { note: notes.join(' ') }),
  };
}

const KINDS: Readonly<Record<ResultKind, readonly [label: string, tone: MailEntry['tone']]>> = {
  failed: ['Failed', 'bad'],
  partial: ['Succeeded in part', 'warn'],
  first: ['First result', 'good'],
  changed: ['Changed', 'warn'],
  unchanged: ['Unchanged', 'plain'],
};

const OVER = ['Over', 'plain'] as const;

export function resultEntry(
  result: Result,
  earlier: number,
  { projectId, timezone }: { readonly projectId: string; readonly timezone: string },
): MailEntry {
  const { overtakenBy } = result;
  const [label, tone] = overtakenBy === null ? KINDS[result.kind] : OVER;
  const timeOf = (at: Date) =>
    at.toLocaleString('en-GB', { timeZone: timezone, dateStyle: 'medium', timeStyle: 'short' });
  const differences = result.kind === 'failed' || overtakenBy !== null ? [] : changesInWords(result);
  const shown = differences
    .map(({ sign, text }) => ({ sign, text: plainLine(text) }))
    .filter(({ text }) => text !== '')
    .slice(0, DIFFERENCES_OF_RESULT);
  return {
    title: oneLine(result.routineName, NAME_LENGTH),
    path: `/p/${projectId}/runs/${result.id}`,
    label,
    tone,
    facts: [
      timeOf(result.finishedAt),
      ...(Number(result.costUsd) < 0.005 ? [] : [`$${Number(result.costUsd).toFixed(2)}`]),
      ...(earlier === 0 ? [] : [`${earlier} earlier`]),
    ].join(' · '),
    lines:
      overtakenBy === null
        ? tellingLines(result, shown.length > 0)
        : [overLine(overtakenBy, timeOf(overtakenBy.finishedAt)), ...tellingLines(result, true).slice(0, 1)],
    differences: shown,
  };
}

function overLine({ versionChanged, outcomeSummary, resultPreview }: Overtaking, since: string): string {
  const [said = ''] = plainLines(outcomeSummary ?? resultPreview ?? '');
  const over = `${versionChanged ? 'With other instructions since' : 'Over since'} ${since}`;
  return said === '' ? `${over}.` : `${over}: ${said}`;
}

type Overtaking = NonNullable<Result['overtakenBy']>;

function tellingLines(result: Result, differs: boolean): string[] {
  if (result.kind === 'failed') return isReason(result.reason) ? [inWords(RUN_REASONS[result.reason])] : [];
  const summary = result.outcomeSummary === null ? [] : [plainLine(result.outcomeSummary)];
  const text = differs ? '' : (result.excerpt ?? '');
  const lines = [...summary, ...plainLines(text)].filter((line) => line !== '');
  return lines.slice(0, LINES_OF_RESULT);
}

function isReason(reason: string | null): reason is RunReason {
  return reason !== null && Object.hasOwn(RUN_REASONS, reason);
}

/** Writes an entry for each problem, with the page on which it is solved. */
function attentionEntries(attention: Attention, projectId: string): MailEntry[] {
  const at = `/p/${projectId}`;
  const entry = (title: string, path: string, label: string, lines: readonly string[]) => ({
    title: oneLine(title, NAME_LENGTH),
    path: `${at}${path}`,
    label,
    tone: 'warn' as const,
    facts: '',
    lines: lines.map(plainLine),
    differences: [],
  });
  return [
    ...attention.stopped.map(({ routineId, routineName, reason }) =>
      entry(routineName, `/routines/${routineId}`, 'Stopped by the service', [inWords(reason)]),
    ),
    ...attention.signIns.map(({ kind, name, ownerName }) =>
      entry(
        name,
        kind === 'connection' ? '/connections' : '/model-accounts',
        'Sign in again',
        ownerName === null ? [] : [`It is the account of ${oneLine(ownerName, NAME_LENGTH)}.`],
      ),
    ),
    ...attention.budgets.map(({ scope, scopeId, name, limit, percent }) =>
      entry(
        name,
        scope === 'routine' ? `/routines/${scopeId}` : '/usage',
        percent >= 100 ? 'Budget used up' : `Budget at ${percent} %`,
        [`${SCOPES[scope]}, ${limit === 'maxTokensPerDay' ? 'tokens of this day' : 'cost of this month'} (UTC).`],
      ),
    ),
    ...attention.skillsBehind.map(({ routineId, routineName, skills }) =>
      entry(routineName, `/routines/${routineId}`, 'Runs an older skill', [skills.join(', ')]),
    ),
  ];
}

const SCOPES = { routine: 'Routine', project: 'Project', organization: 'Organization' } as const;

/** Returns the lines of a result as plain text, without lines that have no letter or digit. */
export function plainLines(text: string): string[] {
  return text
    .split('\n')
    .map(plainLine)
    .filter((line) => line !== '');
}

function plainLine(line: string): string {
  const text = withoutPipes(line)
    .replace(/^(?:[#>|\s]|[*-](?=\s))+/, '')
    .replaceAll(LINKS, '$<label>')
    .replaceAll(/\*\*|__|~~|`/g, '')
    .replaceAll(SLANTED, '$<words>');
  return /[\p{L}\p{N}]/u.test(text) ? oneLine(text, LINE_LENGTH) : '';
}

/** Matches links and pictures, whose addresses a mail leaves out. */
const LINKS = /!?\[(?<label>[^\]\n]{1,300})\]\(https?:\/\/(?:[^\s()]|\([^\s()]*\)){1,1000}\)/g;
const SLANTED = /(?<![\p{L}\p{N}*_])(?<sign>[*_])(?<words>[^\s*_](?:[^*_]{0,300}[^\s*_])?)\k<sign>(?![\p{L}\p{N}*_])/gu;

function oneLine(text: string, length: number): string {
  const line = shownText(withoutUnseen(cut(text, length * 4)), length * 4)
    .replaceAll(/\s+/g, ' ')
    .trim();
  return line.length > length ? `${cut(line, length - 1)}…` : line;
}

function inWords(reason: string): string {
  const text = capitalized(reason.replaceAll('_', ' '));
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function plural(count: number, word: string): string {
  return `${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`;
}
