import { isDeepStrictEqual } from 'node:util';
import type { RoutineFields } from './routine.ts';
import { MATERIAL_FIELDS } from './version.ts';

/** Lists the material fields in which `after` differs. Writing the same value again is no change. */
export function materialChanges(before: RoutineFields, after: RoutineFields): string[] {
  return MATERIAL_FIELDS.filter((field) => !isDeepStrictEqual(before[field], after[field]));
}
