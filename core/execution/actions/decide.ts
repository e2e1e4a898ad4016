import type { Core } from '#core/core.ts';
import { recordProjectAudit, type Actor } from '#core/foundation/audit/index.ts';
import { judging, policyUnchanged, readTarget, type ToolTarget } from '#core/integrations/tools/index.ts';
import { AT_ONCE, databaseTime, lockKey, sql, storableJson, transaction, type Db } from '#lib/database/index.ts';
import { AppError, invalid } from '#lib/errors.ts';
import { newId } from '#lib/ids.ts';
import { canonicalJson, type JsonObject } from '#lib/json.ts';
import { sentence } from '#lib/text.ts';
import { ACTION_REASONS, actionColumns, digestOf, obstacleOf, type Action, type ActionReason } from './action.ts';
import { endActions, followEnds } from './end.ts';
import { tellDecided } from './news.ts';
import { refusedLength } from './hold.ts';
import { findReferred, readAction } from './queries.ts';
import { hasReference, withIds } from './references.ts';

type DecideDeps = Pick<Core, 'database' | 'uiOrigin' | 'work'>;

interface Decision {
  readonly projectId: string;
  readonly organizationId: string;
  readonly id: string;
  readonly by: Actor & { readonly id: string };
  /** The API key or the consent of an assistant; null for a person in the dashboard. */
  readonly credential: string | null;
}

/**
 * Approves an open action that is unchanged since the approver saw it; its call is sent once. Other arguments make a
 * new action in place of the open one. An approved action is returned unchanged.
 * @param wanted.digests digests of the contents that the approver has seen
 * @throws {AppError} `action_not_found`, `own_action`, `action_differs`, `action_closed`, `action_not_allowed`,
 * `action_waits`, `invalid_request` for other arguments that do not fit the tool or its policy
 */
export async function approveAction(
  deps: DecideDeps,
  wanted: Decision & { readonly digests: readonly string[]; readonly arguments: JsonObject | undefined },
): Promise<Action> {
  const { projectId, id } = wanted;
  const seen = await readAction(deps.database, projectId, id);
  if (!wanted.digests.includes(seen.digest)) throw new AppError('action_differs');
  const args = wanted.arguments === undefined || isSame(wanted.arguments, seen) ? undefined : wanted.arguments;
  const again = await approvedBefore(deps.database, seen, args);
  if (again !== undefined) return again;
  const target = await readTarget(deps.database, seen, seen.policyId);
  const obstacle = obstacleOf(seen, target);
  if (obstacle !== undefined || target === undefined) return refuse(deps, wanted, obstacle ?? 'connection_removed');
  const edited = args === undefined ? undefined : await editedCall(deps.database, seen, target, args);
  if (args === undefined) await assertFits(target, seen);
  const approved = await deciding(deps, async (tx) => {
    // Make one decision at a time, so that two decisions cannot exceed the limit together.
    if (target.policy.maxCallsPerRun !== null) await lockKey(tx, `ras:actions:${seen.runId}`);
    const open = await lockForDecision(tx, wanted);
    if (open.state !== 'open' || open.expiresAt <= (await databaseTime(tx))) return undefined;
    await assertStillAllowed(tx, open, target);
    if (!(await canRefer(tx, { ...open, ...edited }))) {
      const which = sql`id = ${id} and project_id = ${projectId}`;
      if (edited === undefined) await endActions(deps, tx, which, { state: 'closed', reason: 'reference_ended' });
      return 'reference_ended';
    }
    const action = edited === undefined ? await approve(tx, open, wanted) : await replace(tx, open, edited, wanted);
    const details = { routineId: open.routineId, tool: open.toolName, replaces: edited === undefined ? null : id };
    const entry = { by: wanted.by, projectId, targetId: action.id, details };
    await recordProjectAudit(tx, { ...entry, action: 'action.approved' });
    await tellDecided(deps, tx, [action]);
    return action;
  });
  if (approved === 'reference_ended') throw new AppError('action_not_allowed', sentence(ACTION_REASONS[approved]));
  if (approved !== undefined) return approved;
  // Another decision came first, or the time is over: return the same approval, or refuse.
  const now = await readAction(deps.database, projectId, id);
  const decided = await approvedBefore(deps.database, now, args);
  if (decided !== undefined) return decided;
  return refuse(deps, wanted, 'expired');
}

/** Rejects an open action; a rejected action is returned unchanged. @throws {AppError} as `approveAction` does */
export function rejectAction(deps: DecideDeps, wanted: Decision & { readonly note: string | null }): Promise<Action> {
  const { projectId, id, by, credential, note } = wanted;
  return deciding(deps, async (tx) => {
    const open = await lockForDecision(tx, wanted);
    if (open.state === 'rejected' && open.decidedBy !== null) return open;
    if (open.state !== 'open') throw closedError(open);
    const rejected = await tx.rowOr<Action>('action_closed')`
      update actions set state = 'rejected', note = ${note}, decided_by = ${by.id}, decided_at = now(),
        finished_at = now(), started_by = ${withProgram(credential)}
      where id = ${id} and project_id = ${projectId} and state = 'open'
      returning ${actionColumns}
    `;
    const details = { routineId: open.routineId, tool: open.toolName };
    await recordProjectAudit(tx, { by, projectId, action: 'action.rejected', targetId: id, details });
    await followEnds(deps, tx, [rejected]);
    return rejected;
  });
}

/**
 * Decides about several actions, the earliest first, each separately. @returns the verdicts in the order of `wanted`
 */
export async function decideEach<T extends { readonly id: string }>(
  wanted: readonly T[],
  decide: (each: T) => Promise<Action>,
): Promise<{ readonly id: string; readonly action?: Action; readonly error?: AppError }[]> {
  const verdicts = new Map<string, { action?: Action; error?: AppError }>();
  for (const each of wanted.toSorted((one, other) => (one.id < other.id ? -1 : 1))) {
    try {
      verdicts.set(each.id, { action: await decide(each) });
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) throw error;
      verdicts.set(each.id, { error });
    }
  }
  return wanted.map(({ id }) => ({ id, ...verdicts.get(id) }));
}

function isSame(args: JsonObject, { arguments: before }: Action): boolean {
  return before !== null && canonicalJson(args) === canonicalJson(before);
}

async function approvedBefore(db: Db, action: Action, args: JsonObject | undefined): Promise<Action | undefined> {
  if (action.state === 'open') return undefined;
  if (args === undefined && action.decidedBy !== null && isApproved(action)) return action;
  if (args !== undefined && action.replacedBy !== null) {
    const replacement = await readAction(db, action.projectId, action.replacedBy);
    if (isSame(args, replacement)) return replacement;
  }
  throw closedError(action);
}

function isApproved({ state }: Action): boolean {
  return state !== 'rejected' && state !== 'replaced' && state !== 'closed';
}

function closedError({ state, reason }: Action): AppError {
  const why = reason === null ? '' : `: ${ACTION_REASONS[reason]}`;
  return new AppError('action_closed', `The action is ${state.replace('_', ' ')}${why}.`);
}

async function refuse(deps: DecideDeps, wanted: Decision, reason: ActionReason): Promise<never> {
  const { projectId, id } = wanted;
  await deciding(deps, async (tx) => {
    const open = await lockForDecision(tx, wanted);
    if (open.state !== 'open') throw closedError(open);
    const state = reason === 'expired' ? 'rejected' : 'closed';
    await endActions(deps, tx, sql`id = ${id} and project_id = ${projectId}`, { state, reason });
  });
  const code = reason === 'expired' ? 'action_closed' : 'action_not_allowed';
  throw new AppError(code, `The action is closed: ${ACTION_REASONS[reason]}.`);
}

/** Checks the arguments again, because the policy may have been narrowed since the call was held. */
async function assertFits({ policy }: ToolTarget, { arguments: args }: Action): Promise<void> {
  if (args === null || hasReference(args)) return;
  const unfit = await judging.judgeArguments(policy, args);
  if (unfit !== undefined) throw new AppError('action_not_allowed', `The call is not allowed: ${unfit.why}.`);
}

/** A call with the arguments that a person wrote. */
interface EditedCall {
  readonly arguments: JsonObject;
  readonly refersTo: readonly string[];
  readonly digest: string;
}

/** @throws {AppError} `invalid_request` for arguments that a run could not have sent either */
async function editedCall(db: Db, seen: Action, target: ToolTarget, args: JsonObject): Promise<EditedCall> {
  const fault = (message: string) => invalid([{ path: 'arguments', message }]);
  // Take the arguments in the form that Postgres stores, so that the digest matches the sent call.
  const stored = await db.value<JsonObject>`select ${storableJson(args)}::jsonb`;
  const referring = withIds(stored, await actionsOfRun(db, seen));
  if ('fault' in referring) throw fault(referring.fault);
  const tooLong = refusedLength(referring.arguments);
  if (tooLong !== undefined) throw fault(tooLong.why);
  if (referring.refersTo.includes(seen.id)) throw fault('an action cannot refer to itself');
  if (referring.refersTo.length === 0) {
    const unfit = await judging.judgeArguments(target.policy, referring.arguments);
    if (unfit !== undefined) throw fault(unfit.why);
  }
  return { ...referring, digest: digestOf({ ...seen, ...referring, connection: target.connection }) };
}

/**
 * Returns the earlier actions that the edited arguments may refer to: the actions of the run, and the actions that this
 * action refers to already. An action may refer to actions of an earlier run if that run asked for the same call first.
 */
async function actionsOfRun(db: Db, { projectId, runId, id, refersTo }: Action): Promise<Map<string, string>> {
  const found = await db.rows<{ id: string }>`
    select id from actions
    where project_id = ${projectId} and (run_id = ${runId} or id = any(${refersTo})) and id < ${id}
  `;
  return new Map(found.map((each) => [each.id, each.id]));
}

/**
 * Decides in a transaction, then requests a round of starts: an earlier round would skip the action, because the
 * transaction still locks it.
 */
async function deciding<T>({ database, work }: DecideDeps, decide: (tx: Db) => Promise<T>): Promise<T> {
  try {
    return await transaction(database, decide);
  } finally {
    work.nudge('actions');
  }
}

async function lockForDecision(tx: Db, { projectId, organizationId, id, by, credential }: Decision): Promise<Action> {
  if (by.kind === 'person') await assertMember(tx, organizationId, by.id);
  const found = await tx.rowOr<Action & { startedBy: string[] }>('action_not_found')`
    select ${actionColumns}, started_by as "startedBy" from actions
    where id = ${id} and project_id = ${projectId} for update
  `;
  const { startedBy, ...action } = found;
  if (action.state === 'open' && credential !== null && startedBy.includes(credential))
    throw new AppError('own_action');
  return action;
}

/** @throws {AppError} `action_not_allowed` if the policy has changed, or the run has used up its calls */
async function assertStillAllowed(tx: Db, action: Action, { policy }: ToolTarget): Promise<void> {
  const { runId, policyId, projectId } = action;
  const found = await tx.row<{ unchanged: boolean; sent: number }>`
    select ${policyUnchanged(policy)} as unchanged,
      (select count(*) from steps s where s.run_id = ${runId} and s.project_id = ${projectId} and s.kind = 'tool'
        and s.tool ->> 'policyId' = ${policyId} and s.started_at is not null and s.tool -> 'action' is null)
      + (select count(*) from actions a where a.run_id = ${runId} and a.project_id = ${projectId}
        and a.policy_id = ${policyId} and a.decided_at is not null
        and a.state not in ('rejected', 'replaced', 'closed'))
      as sent
  `;
  if (found?.unchanged !== true)
    throw new AppError('action_not_allowed', 'The policy of the tool has changed; read the action again.');
  const { maxCallsPerRun } = policy;
  if (maxCallsPerRun === null || found.sent < maxCallsPerRun) return;
  const message = `A run may call this tool at most ${maxCallsPerRun} times, and this run has done so.`;
  throw new AppError('action_not_allowed', message);
}

async function canRefer(tx: Db, { projectId, refersTo }: Pick<Action, 'projectId' | 'refersTo'>): Promise<boolean> {
  if (refersTo.length === 0) return true;
  const referred = await findReferred(tx, { projectId, refersTo });
  const open = referred.filter(({ state }) => state === 'open').map(({ id }) => id);
  if (open.length > 0)
    throw new AppError('action_waits', `Approve ${open.join(', ')} first, because this action uses the result.`);
  const isUsable = ({ state }: { readonly state: Action['state'] }) => ['approved', 'sending', 'done'].includes(state);
  return referred.length === refersTo.length && referred.every(isUsable);
}

function withProgram(credential: string | null) {
  return sql`array_remove(array_append(started_by, ${credential}::text), null)`;
}

function approve(tx: Db, { id, projectId }: Action, { by, credential }: Decision): Promise<Action> {
  return tx.rowOr<Action>('action_closed')`
    update actions set state = 'approved', decided_by = ${by.id}, decided_at = now(), start_at = ${AT_ONCE},
      started_by = ${withProgram(credential)}
    where id = ${id} and project_id = ${projectId} and state = 'open'
    returning ${actionColumns}
  `;
}

/**
 * Approves the call with other arguments, as a new action in place of the open one. References to the open action get
 * the result of the new action.
 */
function replace(tx: Db, { id, projectId }: Action, edited: EditedCall, { by, credential }: Decision): Promise<Action> {
  return tx.rowOr<Action>('action_closed')`
    with replaced as (
      update actions set state = 'replaced', replaced_by = ${newId('action')}, decided_by = ${by.id},
        decided_at = now(), finished_at = now(), started_by = ${withProgram(credential)}
      where id = ${id} and project_id = ${projectId} and state = 'open' returning *
    )
    insert into actions (id, organization_id, project_id, routine_id, run_id, last_run_id, times, started_by, policy_id,
      connection_id, connection_name, account, tool_name, definition_hash, arguments, digest, refers_to, model_reason,
      expires_at, replaces, state, decided_by, decided_at, start_at)
    select replaced_by, organization_id, project_id, routine_id, run_id, last_run_id, times, started_by, policy_id,
      connection_id, connection_name, account, tool_name, definition_hash, ${storableJson(edited.arguments)}::jsonb,
      ${edited.digest}, ${edited.refersTo}::text[], model_reason,
      expires_at, id, 'approved', ${by.id}, now(), ${AT_ONCE}
    from replaced
    returning ${actionColumns}
  `;
}

/** Checks that the person is still a member: they may have left since the request began. */
async function assertMember(tx: Db, organizationId: string, userId: string): Promise<void> {
  const found = await tx.row`
    select 1 from memberships where user_id = ${userId} and organization_id = ${organizationId} for share
  `;
  if (found === undefined) throw new AppError('project_not_found');
}
