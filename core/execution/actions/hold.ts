import { DEFINITION } from '#core/authoring/definition/index.ts';
import type { Core } from '#core/core.ts';
import { judging } from '#core/integrations/tools/index.ts';
import { lockKey, storable, storableJson, sql, type Db } from '#lib/database/index.ts';
import { newId } from '#lib/ids.ts';
import type { JsonObject } from '#lib/json.ts';
import { cut, withoutUnseen } from '#lib/text.ts';
import { digestOf, type Action, type SeenCall } from './action.ts';
import { endActions } from './end.ts';
import { tellHeld } from './news.ts';

/** A call that a run asks for and that waits for a person. */
export type HeldCall = SeenCall &
  Pick<Action, 'projectId' | 'routineId' | 'runId' | 'policyId' | 'connectionName' | 'refersTo' | 'modelReason'>;

export const MAX_OPEN_ACTIONS = 200;
const MAX_REASON_LENGTH = 2_000;
/** The longest arguments of a held call, in characters of JSON. */
const MAX_ARGUMENTS_LENGTH = 64_000;

/** Refuses arguments that are too long for a person to read. */
export function refusedLength(args: JsonObject): judging.RefusedCall | undefined {
  if (JSON.stringify(args).length <= MAX_ARGUMENTS_LENGTH) return undefined;
  return judging.refused('arguments_too_long', MAX_ARGUMENTS_LENGTH);
}

/** Hours after which an open action expires, for a definition that is older than the field. */
const EXPIRE_HOURS = DEFINITION.decisionHours.schema.parse(undefined);

/**
 * Records a held call in the transaction that records its step. A call that is already open is counted again.
 * @returns the id of the action; undefined if the routine has reached its limit
 */
export async function recordHeldCall(
  deps: Pick<Core, 'uiOrigin' | 'work'>,
  tx: Db,
  call: HeldCall,
): Promise<string | undefined> {
  const { projectId, routineId, runId } = call;
  const digest = digestOf(call);
  // Let one run of a routine hold a call at a time, so that two runs cannot exceed the limit together.
  await lockKey(tx, `ras:actions:${routineId}`);
  await endActions(
    deps,
    tx,
    sql`project_id = ${projectId} and routine_id = ${routineId} and digest = ${digest}
    and state = 'open' and expires_at <= now()`,
    { state: 'rejected', reason: 'expired' },
  );
  const recorded = await tx.row<{ id: string; isNew: boolean }>`
    insert into actions (id, organization_id, project_id, routine_id, run_id, last_run_id, started_by, policy_id,
      connection_id, connection_name, account, tool_name, definition_hash, arguments, digest, refers_to, model_reason,
      expires_at)
    select ${newId('action')}, runs.organization_id, runs.project_id, runs.routine_id, runs.id, runs.id,
      coalesce(string_to_array(runs.started_by, ' '), '{}'), ${call.policyId}, ${call.connection.id}, ${call.connectionName},
      ${call.connection.accountLabel}, ${call.toolName}, ${call.definitionHash},
      ${storableJson(call.arguments)}::jsonb, ${digest}, ${call.refersTo}::text[],
      ${call.modelReason && cut(withoutUnseen(storable(call.modelReason)), MAX_REASON_LENGTH)},
      now() + coalesce((r.definition ->> 'decisionHours')::integer, ${EXPIRE_HOURS}) * interval '1 hour'
    from runs join routines r on r.id = runs.routine_id and r.project_id = runs.project_id
    where runs.id = ${runId} and runs.project_id = ${projectId} and (
      (select count(*) from actions o where o.project_id = ${projectId} and o.routine_id = ${routineId}
        and o.state = 'open') < ${MAX_OPEN_ACTIONS}
      or exists (select from actions o where o.project_id = ${projectId} and o.routine_id = ${routineId}
        and o.digest = ${digest} and o.state = 'open'))
    on conflict (routine_id, digest) where state = 'open' do update set times = actions.times + 1,
      last_run_id = excluded.last_run_id, started_by = case when actions.started_by @> excluded.started_by
        then actions.started_by else actions.started_by || excluded.started_by end
    returning id, xmax = 0 as "isNew"
  `;
  if (recorded?.isNew === true) await tellHeld(deps, tx, { id: recorded.id, projectId });
  return recorded?.id;
}
