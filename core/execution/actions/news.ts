import type { Core } from '#core/core.ts';
import { enqueueActionEvents } from '#core/delivery/webhooks/index.ts';
import { addWork } from '#core/foundation/work/index.ts';
import { AT_ONCE, sql, type Db } from '#lib/database/index.ts';
import type { Action } from './action.ts';

export type Told = Pick<Action, 'id' | 'projectId'>;

/**
 * Reports a waiting action to the webhook of its routine, and to the routine's people in one mail for all actions of a
 * run.
 */
export async function tellHeld(core: Pick<Core, 'uiOrigin' | 'work'>, tx: Db, action: Told): Promise<void> {
  await tellWebhook(core, tx, [action], 'action.held');
  await tx.run`${addWork(sql`
    select 'action_held', run_id, organization_id, ${AT_ONCE}, '{}'::jsonb from actions
    where id = ${action.id} and project_id = ${action.projectId}`)}`;
}

/** Reports actions that were approved or rejected, or have ended otherwise, in the transaction of their end. */
export async function tellDecided(
  core: Pick<Core, 'uiOrigin' | 'work'>,
  tx: Db,
  actions: readonly Told[],
): Promise<void> {
  await tellWebhook(core, tx, actions, 'action.decided');
  await runAgain(tx, actions);
}

async function tellWebhook(
  core: Pick<Core, 'uiOrigin' | 'work'>,
  tx: Db,
  actions: readonly Told[],
  type: 'action.held' | 'action.decided',
): Promise<void> {
  const told = await tx.rows<Omit<Parameters<typeof enqueueActionEvents>[2][number], 'type'>>`
    select a.id, a.project_id as "projectId", a.routine_id as "routineId", a.run_id as "runId", a.state, a.reason,
      a.tool_name as "toolName", a.connection_id as "connectionId", a.expires_at as "expiresAt", now() as at,
      r.webhook_url as "webhookUrl", r.webhook_failed_at as "webhookFailedAt"
    from actions a join routines r on r.id = a.routine_id and r.project_id = a.project_id
    where ${areAmong(actions)} order by a.id
  `;
  await enqueueActionEvents(
    core,
    tx,
    told.map((action) => ({ ...action, type })),
  );
}

function areAmong(actions: readonly Told[]) {
  const [ids, projectIds] = [actions.map(({ id }) => id), actions.map(({ projectId }) => projectId)];
  return sql`(a.id, a.project_id) in (select * from unnest(${ids}::text[], ${projectIds}::text[]))`;
}

/**
 * Queues one more run of a routine whose `afterApproval` is `run`, once no call of the run waits and at least one was
 * sent.
 */
export async function runAgain(tx: Db, actions: readonly Told[]): Promise<void> {
  await tx.run`${addWork(sql`
    select 'action_run', a.run_id, a.organization_id, ${AT_ONCE}, jsonb_build_object('projectId', a.project_id,
      'routineId', a.routine_id)
    from actions a join routines r on r.id = a.routine_id and r.project_id = a.project_id
    where ${areAmong(actions)} and r.definition ->> 'afterApproval' = 'run'
      and r.state in ('draft', 'active')
      and exists (select from actions o where o.run_id = a.run_id and o.project_id = a.project_id
        and o.sent_at is not null)
      and not exists (select from actions o where o.run_id = a.run_id and o.project_id = a.project_id
        and o.state in ('open', 'approved', 'sending'))`)}`;
}
