import { isDeepStrictEqual } from 'node:util';
import type { RoutineFields } from './routine.ts';

/**
 * Lists the material fields: what its runs are told, and what they may do. Changing one makes a new revision, which no
 * manual run has proven yet, so the routine returns to draft. A change of its tool policies is material too; it arrives
 * through `returnToDraft`. Name, schedule, time zone, window, skipped dates, jitter, overlap, misfire, budget,
 * `pauseAfterFailures`, webhook URL and `deliver` are not material.
 */
const MATERIAL_FIELDS = [
  'instructions',
  'variables',
  'model',
  'skills',
  'limits',
  'carryResult',
  'builtInTools',
  'outcome',
  'checks',
  'gate',
  'resultSchema',
  'resultKey',
] as const satisfies readonly (keyof RoutineFields)[];

/** Tells whether `after` differs from `before` in a material field. Writing the same value again is no change. */
export function isMaterialChange(before: RoutineFields, after: RoutineFields): boolean {
  return MATERIAL_FIELDS.some((field) => !isDeepStrictEqual(before[field], after[field]));
}
