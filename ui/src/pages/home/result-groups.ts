import type { Shape } from '#ui/api/types.ts';

type Result = Shape<'Result'>;

/** Results of one routine, the latest first. */
export type Group = readonly [Result, ...Result[]];

/** Puts the results of a routine together, in the order of the latest of each. */
export function groupsOf(results: readonly Result[]): readonly Group[] {
  const groups = Map.groupBy(results, ({ routineId }) => routineId).values();
  return [...groups].flatMap(([latest, ...earlier]): Group[] => (latest === undefined ? [] : [[latest, ...earlier]]));
}
