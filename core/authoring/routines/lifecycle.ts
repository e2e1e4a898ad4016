import type { Core } from '#core/core.ts';
import { recordProjectAudit, type Actor } from '#core/foundation/audit/index.ts';
import type { ChangedTools } from '#core/events.ts';
import { assertMayActivate, type Plan } from '#core/accounts/billing/index.ts';
import { databaseTime, transaction, type Database, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { isOver, nextTimeFrom } from '#core/foundation/timetable/index.ts';
import { activateTexts, hasProofRun, readProvenTexts } from './proof.ts';
import { dropProposals } from './proposals.ts';
import { lockRoutine, readRoutine, type ProvenRoutine } from './queries.ts';
import { recordDeactivation } from './record-changes.ts';
import type { Routine, RoutineState } from './routine.ts';
import { routineStatesBefore, type StateMove } from './states.ts';
import { assertRoomForRoutine } from './save.ts';
import { moveRoutine, returnToDraft, writeRestored } from './writes.ts';

export interface ActivationInput {
  readonly projectId: string;
  readonly organizationId: string;
  readonly plan: Plan;
  readonly id: string;
  /** Judges a routine that could be activated. Called before the row is locked, because the call may send a request. */
  readonly judge?: (routine: ProvenRoutine) => Promise<AppError | undefined>;
}

/**
 * Puts the routine on its schedule, with the texts of its latest proof. Activating an active routine only makes its
 * scheduled runs take the texts of a later proof.
 * @throws {AppError} `routine_not_found`, `routine_archived`, `definition_unreadable`, `successful_run_required`,
 * `schedule_ended`, `allowance_exceeded`, and the verdict of `judge`
 */
export async function activateRoutine(database: Database, by: Actor, input: ActivationInput): Promise<Routine> {
  const seen = await readRoutine(database, input.projectId, input.id);
  const mayMove = routineStatesBefore('active').includes(seen.state) && seen.proofRunId !== null;
  const refusal = mayMove ? await input.judge?.(seen) : undefined;
  const activated = await transaction(database, async (tx) => {
    const routine = await lockRoutine(tx, input.projectId, input.id);
    if (!hasToMove(routine, 'active')) return takeNewerTexts(tx, by, routine);
    // Start again, because another request changed the routine after `judge` saw it.
    if (routine.version !== seen.version) return undefined;
    if (routine.blocked !== null) throw new AppError('definition_unreadable', routine.blocked);
    if (!(await hasProofRun(tx, routine))) throw new AppError('successful_run_required');
    const nextRunAt = nextTimeFrom(routine, await databaseTime(tx));
    if (isOver(routine, nextRunAt)) {
      const message = `The schedule has no time left up to endsAt, ${routine.endsAt?.toISOString()}: change endsAt first.`;
      throw new AppError('schedule_ended', message);
    }
    await assertMayActivate(tx, input.organizationId, input.plan);
    if (refusal !== undefined) throw refusal;
    await activateTexts(tx, routine, (await readProvenTexts(tx, routine)).proven);
    const active = await moveRoutine(tx, routine, { state: 'active', nextRunAt });
    const { id, projectId, revision } = routine;
    await recordProjectAudit(tx, { by, projectId, action: 'routine.activated', targetId: id, details: { revision } });
    return active;
  });
  return activated ?? activateRoutine(database, by, input);
}

/** Gives an active routine the texts of its latest proof, if they are newer. */
async function takeNewerTexts(tx: Db, by: Actor, routine: Routine): Promise<Routine> {
  const { proven, active, proofRunId } = await readProvenTexts(tx, routine);
  const newer = Object.entries(proven.skills ?? {}).filter(
    ([id, revision]) => revision > (active.skills === null ? 1 : (active.skills[id] ?? 0)),
  );
  const newerFacts = (proven.facts ?? 0) > (active.facts ?? 0);
  if (newer.length === 0 && !newerFacts) return routine;
  await activateTexts(tx, routine, proven);
  const entry = { by, projectId: routine.projectId, targetId: routine.id };
  if (newer.length > 0) {
    const skills = newer.map(([id, revision]) => `${id}@${revision}`);
    const details = { skills, proofRunId };
    await recordProjectAudit(tx, { ...entry, action: 'routine.skills_updated', details });
  }
  if (newerFacts) {
    const details = { factsVersion: proven.facts, proofRunId };
    await recordProjectAudit(tx, { ...entry, action: 'routine.facts_updated', details });
  }
  return routine;
}

/**
 * Takes a routine out of the archive, as a draft with its history. A routine that is not archived stays unchanged.
 * @throws {AppError} `routine_not_found`, `limit_reached`, `external_key_taken` when another routine has taken its key
 */
export async function restoreRoutine(
  database: Database,
  by: Actor,
  { projectId, id }: { readonly projectId: string; readonly id: string },
): Promise<Routine> {
  await assertRoomForRoutine(database, { id, projectId });
  return transaction(database, async (tx) => {
    const routine = await lockRoutine(tx, projectId, id);
    if (routine.state !== 'archived') return routine;
    const restored = await writeRestored(tx, routine, by.id);
    await recordProjectAudit(tx, { by, projectId, action: 'routine.restored', targetId: id });
    return restored;
  });
}

/**
 * Pauses or archives a routine and skips its waiting scheduled runs. Its history stays. A routine that is already in
 * the new state stays unchanged.
 * @throws {AppError} `routine_not_found`, `routine_archived` when an archived routine is to be paused
 */
export function stopRoutine(
  { database, emit }: Pick<Core, 'database' | 'emit'>,
  by: Actor,
  { projectId, id, state }: { projectId: string; id: string; state: 'paused' | 'archived' },
): Promise<Routine> {
  return transaction(database, async (tx) => {
    const routine = await lockRoutine(tx, projectId, id);
    if (!hasToMove(routine, state)) return routine;
    const stopped = await moveRoutine(tx, routine, { state, nextRunAt: null });
    await dropProposals({ emit }, tx, { routineIds: [id], reason: `routine_${state}` });
    await emit(tx, `routine.${state}`, { routineIds: [id] });
    await recordProjectAudit(tx, { by, projectId, action: `routine.${state}`, targetId: id });
    return stopped;
  });
}

/**
 * Archives every routine of a project that is being deleted, erases their addresses and secrets, and skips their
 * waiting runs.
 * @returns the ids of all routines of the project
 * @throws {AppError} `routines_active` while a routine is on its schedule
 */
export async function retireRoutines(
  { emit }: Pick<Core, 'emit'>,
  tx: Db,
  projectId: string,
): Promise<readonly string[]> {
  const found = await tx.rows<{ id: string; state: RoutineState }>`
    select id, state from routines where project_id = ${projectId} order by id for no key update
  `;
  if (found.some(({ state }) => state === 'active')) throw new AppError('routines_active');
  const ids = found.map(({ id }) => id);
  if (ids.length === 0) return ids;
  await tx.run`
    update routines set
      state = 'archived', archived_at = coalesce(archived_at, now()), next_run_at = null,
      webhook_secret = null, webhook_secret_previous = null, webhook_url = null,
      success_ping_url = null, notify_mail = null,
      version = version + 1, updated_at = now()
    where project_id = ${projectId}
  `;
  await dropProposals({ emit }, tx, { routineIds: ids, reason: 'routine_archived' });
  await emit(tx, 'routine.archived', { routineIds: ids });
  return ids;
}

/**
 * Returns routines to draft as new versions with their present tools; their waiting scheduled runs are skipped. The
 * audit log records each routine that loses its schedule.
 */
export async function takeNewTools(
  { emit }: Pick<Core, 'emit'>,
  tx: Db,
  { projectId, routineIds, reason, by }: ChangedTools,
): Promise<string[]> {
  const changed = await returnToDraft(tx, { projectId, routineIds, reason, actor: by.id });
  const ids = changed.map(({ id }) => id);
  await dropProposals({ emit }, tx, { routineIds: ids, reason: 'routine_changed' });
  await emit(tx, 'routine.changed', { routineIds: ids });
  for (const { id, revision, wasActive } of changed) {
    if (wasActive) await recordDeactivation(tx, by, { id, projectId, revision });
  }
  return ids;
}

function hasToMove({ state }: Routine, to: StateMove): boolean {
  if (state === to) return false;
  if (!routineStatesBefore(to).includes(state)) throw new AppError('routine_archived');
  return true;
}
