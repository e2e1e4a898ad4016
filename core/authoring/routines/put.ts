import { isDeepStrictEqual } from 'node:util';
import type { Actor } from '#core/foundation/audit/index.ts';
import type { AppError } from '#lib/errors.ts';
import { putByKey, type IsExpected } from '#lib/external-keys.ts';
import { findRoutineByKey } from './queries.ts';
import type { Routine, RoutineFields } from './routine.ts';
import { refusalsOf } from './check.ts';
import {
  assertPatchable,
  changeChecks,
  createRoutine,
  creationChecks,
  patchRoutine,
  type SaveDeps,
  type SavedRoutine,
} from './save.ts';
import { routineWarnings } from './warnings.ts';

/**
 * Creates a routine with an external key, or changes the routine that has the key. Only changed fields are checked and
 * written.
 * @throws {AppError} `precondition_failed`, and the errors of `createRoutine` and `patchRoutine`
 */
export function putRoutine(
  deps: SaveDeps,
  input: {
    /** Id of the routine if it is created. */
    id: string;
    projectId: string;
    fields: RoutineFields & { readonly externalKey: string };
    isExpected: IsExpected;
    by: Actor;
  },
): Promise<SavedRoutine> {
  const { id, projectId, fields, isExpected, by } = input;
  return putByKey({
    find: () => findRoutineByKey(deps.database, projectId, fields.externalKey),
    isExpected,
    create: () => createRoutine(deps, { id, projectId, fields, actor: by.id }),
    async change(found) {
      const patch = differing(found, fields);
      const isAsKept = Object.keys(patch).length === 0 && found.driftedAt === null;
      if (isAsKept && found.blocked === null) {
        const warnings = await routineWarnings(deps.database, deps, found);
        return { routine: found, webhookSecret: undefined, warnings };
      }
      return patchRoutine(deps, {
        id: found.id,
        projectId,
        patch: { ...patch, managedBy: fields.managedBy, managedFrom: fields.managedFrom },
        expectedVersions: [found.version],
        origin: { actor: by.id },
        by,
        isPut: true,
      });
    },
  });
}

/**
 * Finds all faults that saving these fields would report, and writes nothing. The fields are checked as a change of the
 * routine that has the key, or as a new routine if no routine has the key.
 * @param input.skillLengths lengths, by reference, of custom skills that will be written first
 */
export async function findRefusals(
  deps: SaveDeps,
  input: {
    readonly id: string;
    readonly projectId: string;
    readonly fields: RoutineFields;
    readonly skillLengths: ReadonlyMap<string, number>;
  },
): Promise<AppError[]> {
  const { projectId, fields, skillLengths } = input;
  const seen =
    fields.externalKey === null ? undefined : await findRoutineByKey(deps.database, projectId, fields.externalKey);
  if (seen === undefined) return refusalsOf(creationChecks(deps, input));
  const patch = differing(seen, fields);
  return refusalsOf([() => assertPatchable(seen, undefined), ...changeChecks(deps, { seen, patch, skillLengths })]);
}

function differing(before: Routine, fields: RoutineFields): Partial<RoutineFields> {
  const { maxCostUsdPerMonth: cost, ...budget } = fields.budget;
  const maxCostUsdPerMonth = cost === null ? null : cost.replace(ZEROS, '');
  const stored: Partial<RoutineFields> = {
    ...fields,
    skipDates: fields.skipDates.toSorted(),
    budget: { ...budget, maxCostUsdPerMonth },
  };
  const given: Readonly<Record<string, unknown>> = { ...before };
  return Object.fromEntries(Object.entries(stored).filter(([name, value]) => !isDeepStrictEqual(value, given[name])));
}

/** Matches leading and trailing zeros that do not change the value of a decimal number. */
const ZEROS = /^0+(?=\d)|\.0+$|(?<=\.\d*[1-9])0+$/g;
