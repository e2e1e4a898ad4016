import type { Shape } from '#ui/api/types.ts';

type Result = Shape<'Result'>;

/** Results of one routine, the latest first. */
export type Group = readonly [Result, ...Result[]];

type LastEnded = NonNullable<Shape<'LastEndedRun'>>;

/** Returns the run of the same routine that succeeded after a result and says something else. */
export function laterOf(result: Result, last: LastEnded | null | undefined): LastEnded | undefined {
  if (last == null || last.finishedAt === null || last.state !== 'succeeded') return undefined;
  const isSame = last.resultPreview !== null && result.excerpt?.startsWith(last.resultPreview) === true;
  return last.finishedAt > result.finishedAt && !isSame ? last : undefined;
}

/** Puts the results of a routine together, in the order of the latest of each. */
export function groupsOf(results: readonly Result[]): readonly Group[] {
  const groups = Map.groupBy(results, ({ routineId }) => routineId).values();
  return [...groups].flatMap(([latest, ...earlier]): Group[] => (latest === undefined ? [] : [[latest, ...earlier]]));
}
