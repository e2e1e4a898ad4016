import { isDeepStrictEqual } from 'node:util';
import type { RoutineFields } from './routine.ts';
import { MATERIAL_FIELDS } from './version.ts';

/** Tells whether `after` differs from `before` in a material field. Writing the same value again is no change. */
export function isMaterialChange(before: RoutineFields, after: RoutineFields): boolean {
  return MATERIAL_FIELDS.some((field) => !isDeepStrictEqual(before[field], after[field]));
}
