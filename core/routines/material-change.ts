import { isDeepStrictEqual } from 'node:util';
import type { RoutineFields } from './routine.ts';

/**
 * The fields that decide what a run does and may do. Changing one makes the last proof run worthless, so the routine
 * goes back to draft. Its tool policies
 * are too, and change elsewhere. When it runs, what it is called and where its result goes are not among them.
 */
export const MATERIAL_FIELDS = [
  'instructions',
  'variables',
  'model',
  'skills',
  'limits',
] as const satisfies readonly (keyof RoutineFields)[];

/** Whether `after` differs from `before` in what its runs do. Writing the same value again is no change. */
export function isMaterialChange(before: RoutineFields, after: RoutineFields): boolean {
  return MATERIAL_FIELDS.some((field) => !isDeepStrictEqual(before[field], after[field]));
}
