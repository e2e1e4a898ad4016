import type { Core } from '#core/core.ts';
import { sql, transaction, type Database, type Db, type Sql } from '#lib/database/index.ts';
import type { ActionReason, ActionState } from './action.ts';
import { tellDecided, type Told } from './news.ts';

type EndDeps = Pick<Core, 'uiOrigin' | 'work'>;

/**
 * Ends unsent actions, and the actions that refer to them, in the caller's transaction.
 * @param which an SQL condition on `actions`
 */
export async function endActions(
  deps: EndDeps,
  tx: Db,
  which: Sql,
  to: { readonly state: Extract<ActionState, 'closed' | 'rejected'>; readonly reason: ActionReason | Sql },
): Promise<number> {
  const ended = await tx.rows<Told>`
    update actions set state = ${to.state}, reason = ${to.reason}, start_at = null, finished_at = now()
    where state in ('open', 'approved') and ${which}
    returning id, project_id as "projectId"
  `;
  await followEnds(deps, tx, ended);
  return ended.length;
}

/** Reports actions that ended without being carried out, and ends the actions that refer to them. */
export async function followEnds(deps: EndDeps, tx: Db, ended: readonly Told[]): Promise<void> {
  if (ended.length === 0) return;
  await tellDecided(deps, tx, ended);
  await endReferring(deps, tx, ended);
}

/** Ends the actions that refer to actions which were not carried out. */
export async function endReferring(deps: EndDeps, tx: Db, ended: readonly Told[]): Promise<void> {
  const ids = ended.map(({ id }) => id);
  const projectIds = [...new Set(ended.map(({ projectId }) => projectId))];
  const which = sql`project_id = any(${projectIds}) and refers_to && array(
    select unnest(array[o.id, o.replaces]) from actions o
    where o.id = any(${ids}) and o.project_id = any(${projectIds}))`;
  await endActions(deps, tx, which, { state: 'closed', reason: 'reference_ended' });
}

/** The most actions that one transaction expires. `expireActions` repeats until fewer are left. */
const BATCH = 200;

/** Rejects open actions that no one has decided in time. */
export async function expireActions(
  deps: EndDeps & { readonly database: Database },
  signal: AbortSignal,
): Promise<void> {
  const overdue = sql`id in (select id from actions where state = 'open' and expires_at <= now()
    order by expires_at limit ${BATCH} for update skip locked)`;
  const to = { state: 'rejected', reason: 'expired' } as const;
  do signal.throwIfAborted();
  while ((await transaction(deps.database, (tx) => endActions(deps, tx, overdue, to))) === BATCH);
}

/** Closes actions that routines can no longer carry out, in the transaction that changes routines or tools. */
export async function closeWithTools(deps: EndDeps, tx: Db, routineIds: readonly string[]): Promise<void> {
  const policy = sql`select from tool_policies p where p.id = actions.policy_id and p.project_id = actions.project_id`;
  const isDefined = sql`p.vanished_at is null and p.definition_hash = actions.definition_hash`;
  await endActions(
    deps,
    tx,
    sql`routine_id = any(${routineIds}) and not exists (${policy} and ${isDefined} and p.state <> 'disabled')`,
    {
      state: 'closed',
      reason: sql`case when not exists (${policy}) then 'connection_removed'
        when not exists (${policy} and ${isDefined}) then 'tool_changed' else 'tool_disabled' end`,
    },
  );
}

/** Closes the actions of routines that are archived, in the transaction that archives them. */
export async function closeArchived(deps: EndDeps, tx: Db, routineIds: readonly string[]): Promise<void> {
  await endActions(deps, tx, sql`routine_id = any(${routineIds})`, { state: 'closed', reason: 'routine_archived' });
}

/** Erases the texts of models, tools and people in the actions of runs, and closes waiting actions. */
export async function eraseActions(tx: Db, runIds: readonly string[]): Promise<void> {
  await tx.run`
    update actions set arguments = null, model_reason = null, note = null, result = null, structured = null,
      error_message = null,
      reason = case when state in ('open', 'approved') then 'content_erased' else reason end,
      finished_at = coalesce(finished_at, case when state in ('open', 'approved') then now() end),
      start_at = case when state = 'sending' then start_at end,
      state = case when state in ('open', 'approved') then 'closed' else state end
    where run_id = any(${runIds})
  `;
}

export async function deleteActions(tx: Db, runIds: readonly string[]): Promise<void> {
  await tx.run`delete from actions where run_id = any(${runIds})`;
}
