import { isDeepStrictEqual } from 'node:util';
import type { Core } from '#core/core.ts';
import { recordProjectAudit, type Actor } from '#core/foundation/audit/index.ts';
import { databaseTime, transaction, sql, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { driftOf } from '#lib/external-keys.ts';
import { assertWithinKeptQuota } from '#lib/quota.ts';
import { definitionForm } from '#core/authoring/definition/index.ts';
import { checkTiming, nextTimeAfterSave } from '#core/foundation/timetable/index.ts';
import {
  assertChecks,
  checkGate,
  checkNotifications,
  routineChecks,
  type SaveCheck,
  type RoutineChecks,
} from './check.ts';
import { recordDeactivation, recordChanges } from './record-changes.ts';
import { dropProposals } from './proposals.ts';
import { lockRoutine, readRoutine } from './queries.ts';
import type { Routine, RoutineFields } from './routine.ts';
import { type VersionOrigin, readVersion } from './versions.ts';
import {
  generateWebhookSecret,
  type SealedWebhookSecrets,
  isRotating,
  readWebhookSecret,
  writeWebhookSecret,
} from './webhook.ts';
import { routineWarnings, type RoutineWarning, type WarningDeps } from './warnings.ts';
import { insertRoutine, updateRoutine } from './writes.ts';

export interface SaveDeps extends RoutineChecks, WarningDeps, Pick<Core, 'database' | 'emit'> {
  readonly webhookSecrets: SealedWebhookSecrets;
}

export interface SavedRoutine {
  readonly routine: Routine;
  /** The secret in plain text, shown once: when the routine gets its first webhook URL. */
  readonly webhookSecret: string | undefined;
  readonly warnings: readonly RoutineWarning[];
}

/** Creates a draft. @throws {AppError} `limit_reached`, `external_key_taken`, and the errors of `creationChecks` */
export async function createRoutine(
  deps: Omit<SaveDeps, 'emit'>,
  input: { id: string; projectId: string; fields: RoutineFields; actor: string | null },
): Promise<SavedRoutine> {
  const { id, projectId, fields } = input;
  await assertChecks(creationChecks(deps, input));
  const webhookSecret = fields.webhookUrl === null ? undefined : generateWebhookSecret();
  const sealed = webhookSecret === undefined ? null : deps.webhookSecrets.seal(id, webhookSecret);
  const origin = { actor: input.actor };
  const created = await insertRoutine(deps.database, { ...fields, id, projectId, webhookSecret: sealed, origin });
  const routine = await readRoutine(deps.database, projectId, id);
  const warnings = await routineWarnings(deps.database, deps, routine);
  if (created !== undefined) return { routine, webhookSecret, warnings };
  // An earlier attempt of this request committed, but its response was lost: return the secret, which no one has seen.
  const stored = await readWebhookSecret(deps.database, projectId, id);
  return { routine, webhookSecret: stored && deps.webhookSecrets.open(id, stored), warnings };
}

/** Lists the checks of a routine that is created. They throw `limit_reached` and the errors of `routineChecks`. */
export function creationChecks(
  deps: Omit<SaveDeps, 'emit'>,
  { id, projectId, fields, skillLengths = new Map() }: Checked & { readonly fields: RoutineFields },
): SaveCheck[] {
  const { database } = deps;
  return [
    () => assertRoomForRoutine(database, { id, projectId }),
    ...routineChecks(database, deps, projectId, fields, { skillLengths }),
    (found) => hasTimes(found) && checkTiming(database, fields, undefined),
    () => checkGate(database, deps, { projectId, routineId: id }, fields.gate),
    () => checkNotifications(deps, projectId, fields),
  ];
}

interface Checked {
  readonly id: string;
  readonly projectId: string;
  /** Lengths of custom skills that are about to be written, by reference. */
  readonly skillLengths?: ReadonlyMap<string, number>;
}

/** Lists the checks of a change. Unchanged fields are not checked. */
export function changeChecks(
  deps: SaveDeps,
  { seen, patch, skillLengths = new Map() }: Pick<Checked, 'skillLengths'> & { seen: Routine; patch: RoutinePatch },
): SaveCheck[] {
  const { database } = deps;
  const { id: routineId, projectId } = seen;
  const { instructions, variables, skills, facts, resultSchema, resultKey } = patch;
  const text = [instructions, variables, skills, facts, resultSchema, resultKey];
  const changed = applyPatch(seen, patch);
  return [
    ...routineChecks(database, deps, projectId, changed, {
      attached: patch.skills === undefined ? seen.skills : [],
      skillLengths,
      textChanged: text.some((field) => field !== undefined),
      scheduleChanged: changed.schedule !== seen.schedule,
      modelChanged: !isDeepStrictEqual(changed.model, seen.model),
    }),
    (found) => hasTimes(found) && checkTiming(database, changed, seen),
    // Check only a changed gate: a tool that was disabled since does not block a change of other fields.
    () => patch.gate !== undefined && checkGate(database, deps, { projectId, routineId }, patch.gate),
    // Check only changed recipients: a person who has left since does not block a change of other fields.
    () =>
      (patch.notifications !== undefined || patch.resultsTo !== undefined) &&
      checkNotifications(deps, projectId, changed),
  ];
}

function hasTimes(found: readonly AppError[]): boolean {
  return !found.some(({ code }) => code === 'invalid_schedule' || code === 'invalid_timezone');
}

/**
 * Changes a routine. A material change is a new version: the routine returns to draft, and its waiting runs are
 * skipped.
 * @throws {AppError} `routine_not_found`, `routine_archived`, `definition_unreadable`, `precondition_failed`,
 * `external_key_taken`, and the errors of `changeChecks`
 */
export async function patchRoutine(
  deps: SaveDeps,
  input: {
    id: string;
    projectId: string;
    patch: RoutinePatch;
    /** The versions that the caller expects (`If-Match`); undefined for any. */
    expectedVersions: readonly number[] | undefined;
    origin: VersionOrigin;
    by: Actor;
    /** True when the routine's manager sets its whole content. The routine then no longer counts as drifted. */
    isPut?: true;
  },
): Promise<SavedRoutine> {
  const { id, projectId, patch, expectedVersions } = input;
  // Check before locking the row: the checks may call the gateway, and no transaction may wait for HTTP.
  const seen = await readRoutine(deps.database, projectId, id);
  assertPatchable(seen, expectedVersions);
  await assertChecks(changeChecks(deps, { seen, patch }));

  const saved = await transaction(deps.database, async (tx) => {
    const before = await lockRoutine(tx, projectId, id);
    assertPatchable(before, expectedVersions);
    // Start again, because another request changed the routine after it was checked.
    if (before.version !== seen.version) return undefined;
    const fields = applyPatch(before, patch);
    const webhookSecret = await giveFirstSecret(deps, tx, before, fields);
    await dropProposals(deps, tx, { routineIds: [id], reason: 'routine_changed' });
    const material = definitionForm.differences(before, fields).length > 0;
    const routine = await updateRoutine(tx, before, {
      fields,
      version: material ? input.origin : undefined,
      nextRunAt: nextTimeAfterSave(before, fields, await databaseTime(tx)),
      // Start stopped deliveries again: a person who saves the URL, even unchanged, says that the receiver works.
      rearmWebhook: patch.webhookUrl !== undefined,
      drift: driftOf(before, fields, { managedBy: patch.managedBy, isPut: input.isPut === true }),
      by: input.by.id,
    });
    if (material) await deps.emit(tx, 'routine.changed', { routineIds: [id] });
    const { restoredFrom } = input.origin;
    await recordChanges(tx, { before, after: routine, by: input.by, restoredFrom });
    if (material && before.state === 'active') await recordDeactivation(tx, input.by, routine);
    return { routine, webhookSecret, warnings: await routineWarnings(tx, deps, { ...seen, ...routine }) };
  });
  return saved ?? patchRoutine(deps, input);
}

/** A change of a routine. Limits, budget and notifications are changed field by field, everything else as a whole. */
export type RoutinePatch = Partial<Omit<RoutineFields, 'limits' | 'budget' | 'notifications'>> & {
  readonly limits?: Partial<RoutineFields['limits']>;
  readonly budget?: Partial<RoutineFields['budget']>;
  readonly notifications?: Partial<RoutineFields['notifications']>;
};

/** Creates the webhook secret of a routine that gets its first webhook URL, and returns the secret. */
export async function giveFirstSecret(
  { webhookSecrets }: Pick<SaveDeps, 'webhookSecrets'>,
  tx: Db,
  { id, projectId, webhookUrl }: Routine,
  fields: RoutineFields,
): Promise<string | undefined> {
  if (webhookUrl !== null || fields.webhookUrl === null) return undefined;
  const webhookSecret = generateWebhookSecret();
  const secret = webhookSecrets.seal(id, webhookSecret);
  await writeWebhookSecret(tx, { id, projectId, secret, keepPrevious: false });
  return webhookSecret;
}

export function applyPatch(before: RoutineFields, patch: RoutinePatch): RoutineFields {
  return {
    ...before,
    ...patch,
    limits: { ...before.limits, ...patch.limits },
    budget: { ...before.budget, ...patch.budget },
    notifications: { ...before.notifications, ...patch.notifications },
    resultsTo: { ...before.resultsTo, ...patch.resultsTo },
  };
}

/**
 * Replaces the webhook secret. Both secrets sign for 24 hours, so that a receiver can switch without losing a delivery.
 * @param input.force drops the previous secret while an earlier rotation is not over
 * @throws {AppError} `routine_not_found`, `routine_archived`, `webhook_not_configured`, `rotation_in_progress`
 */
export async function rotateWebhookSecret(
  deps: Pick<SaveDeps, 'database' | 'webhookSecrets'>,
  by: Actor,
  { projectId, id, force }: { projectId: string; id: string; force: boolean },
): Promise<{ routine: Routine; webhookSecret: string }> {
  const webhookSecret = generateWebhookSecret();
  return transaction(deps.database, async (tx) => {
    const routine = await lockRoutine(tx, projectId, id);
    if (routine.state === 'archived') throw new AppError('routine_archived');
    if (routine.webhookUrl === null) throw new AppError('webhook_not_configured');
    // Refuse unless forced, because the receiver may still use the secret that a second rotation would drop.
    const cutsOff = await isRotating(tx, projectId, id);
    if (cutsOff && !force) throw new AppError('rotation_in_progress');
    const secret = deps.webhookSecrets.seal(id, webhookSecret);
    await writeWebhookSecret(tx, { id, projectId, secret, keepPrevious: true });
    const entry = { by, projectId, targetId: id, details: { cutsOff } };
    await recordProjectAudit(tx, { ...entry, action: 'webhook_secret.rotated' });
    return { routine: await readRoutine(tx, projectId, id), webhookSecret };
  });
}

export function assertPatchable(routine: Routine, expected: readonly number[] | undefined): void {
  if (routine.state === 'archived') throw new AppError('routine_archived');
  // Refuse the change, because this release would drop the fields that only a newer release knows.
  if (routine.blocked !== null) throw new AppError('definition_unreadable', routine.blocked);
  if (expected?.includes(routine.version) === false) throw new AppError('precondition_failed');
}

/**
 * Restores the material fields of an earlier version as a new revision without a proof run. Confirmations of tools
 * stay.
 * @throws {AppError} `routine_not_found`, `version_not_found`, `routine_archived`, and the errors of `changeChecks`
 */
export async function restoreVersion(
  deps: SaveDeps,
  input: { id: string; projectId: string; revision: number; by: Actor },
): Promise<SavedRoutine> {
  const { id, projectId, by } = input;
  await readRoutine(deps.database, projectId, id);
  const version = await readVersion(deps.database, { id, projectId }, input.revision);
  if (version.blocked !== null) throw new AppError('definition_unreadable', version.blocked);
  return patchRoutine(deps, {
    id,
    projectId,
    patch: definitionForm.pick(version),
    expectedVersions: undefined,
    origin: { actor: by.id, restoredFrom: version.revision },
    by,
  });
}

/** The most routines of a project that are not archived: five times as many as any plan keeps active. */
const MAX_ROUTINES = 5_000;
/** The most routines that a project ever has, because archived routines are kept. */
const MAX_EVER = 50_000;

/** Checks that the project has room for another routine. @throws {AppError} `limit_reached` */
export async function assertRoomForRoutine(
  db: Db,
  { id, projectId }: { readonly id: string; readonly projectId: string },
): Promise<void> {
  await assertWithinKeptQuota(db, {
    all: sql`select from routines where project_id = ${projectId} and id <> ${id}`,
    ever: { max: MAX_EVER, what: 'routines, archived ones included' },
    live: { where: sql`state <> 'archived'`, max: MAX_ROUTINES, what: 'routines that are not archived' },
  });
}
