import type { Shape } from '#ui/api/types.ts';

type Result = Shape<'Result'>;

/** Results of one routine, the latest first. */
export type Group = readonly [Result, ...Result[]];

/** Unread results, grouped by urgency. */
export interface Brief {
  /** Results whose model asks a person to act. */
  readonly urgent: readonly Group[];
  readonly fresh: readonly Group[];
  /** Results that a later run has replaced. */
  readonly over: readonly Group[];
}

/** Groups unread results by urgency. A routine that is listed as failing is not repeated among the news. */
export function briefOf(results: readonly Result[], attention: Shape<'Attention'> | undefined): Brief {
  const named = new Set(
    [...(attention?.failed ?? []), ...(attention?.stopped ?? [])].map(({ routineId }) => routineId),
  );
  const groups = groupsOf(results).filter(([{ kind, routineId }]) => kind !== 'failed' || !named.has(routineId));
  const isOver = ([{ overtakenBy }]: Group) => overtakenBy !== null;
  const isUrgent = (group: Group) => !isOver(group) && group[0].urgency === 'high';
  return {
    urgent: groups.filter(isUrgent),
    fresh: groups.filter((group) => !isOver(group) && !isUrgent(group)),
    over: groups.filter(isOver),
  };
}

/** Groups results by routine, in the order of each routine's latest result. */
export function groupsOf(results: readonly Result[]): readonly Group[] {
  const groups = Map.groupBy(results, ({ routineId }) => routineId).values();
  return [...groups].flatMap(([latest, ...earlier]): Group[] => (latest === undefined ? [] : [[latest, ...earlier]]));
}

interface Counts {
  readonly needs: number;
  readonly fresh: number;
  readonly over: number;
  readonly quiet: number;
  /** True when there are more unread results than were counted. */
  readonly more: boolean;
}

const WORDS = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];

/** Summarizes Home in one sentence: "One thing needs you, two are new, three are quiet." */
export function headlineOf({ needs, fresh, over, quiet, more }: Counts): string {
  const are = (count: number, what: string) =>
    count === 0 ? [] : [`${words(count)} ${count === 1 ? 'is' : 'are'} ${what}`];
  const needed =
    needs === 0 ? 'nothing needs you' : `${words(needs)} ${needs === 1 ? 'thing needs' : 'things need'} you`;
  const news = more ? [`more than ${words(fresh)} are new`] : are(fresh, 'new');
  const rest = [...news, ...are(over, 'over'), ...are(quiet, 'quiet')];
  const parts = [needed, ...(fresh === 0 && !more ? ['nothing is new', ...rest] : rest)];
  const sentence = parts.join(', ');
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`;
}

function words(count: number): string {
  return WORDS[count] ?? String(count);
}
