import { contentDaysOf, contentDaysOfAll, runDaysOf, type RetentionRule } from '#core/accounts/settings/index.ts';
import { eraseMessages, deleteMessages } from '#core/foundation/outbox/index.ts';
import { eraseBodies, deleteDeliveries } from '#core/delivery/webhooks/index.ts';
import { deleteChatDeliveries, eraseChatResponses } from '#core/delivery/chats/index.ts';
import { keepProofs } from '#core/authoring/routines/index.ts';
import { deleteActions, eraseActions } from '#core/execution/actions/index.ts';
import { sql, type Db, type Sql } from '#lib/database/index.ts';

/** One of the two stages of retention, erasing and deleting. Each has an index of the runs that still need it. */
export interface Stage {
  readonly name: 'content' | 'runs';
  /** SQL condition on runs for which this stage is next, written as its partial indexes have it. */
  readonly next: Sql;
  /** The most days after its end that a run of any project is kept from this stage. */
  daysOfAll(rule: RetentionRule): number;
  /** The same days for the runs of a project, as an SQL expression on a row of `projects`. */
  daysOf(rule: RetentionRule, project: Sql): Sql;
  /** Applies the stage to runs that the transaction has locked. @returns the number of runs */
  apply(tx: Db, runIds: readonly string[]): Promise<number>;
}

/** The first stage, which erases the content of a run. */
export const CONTENT: Stage = {
  name: 'content',
  next: sql`content_erased_at is null and not pinned`,
  daysOfAll: contentDaysOfAll,
  daysOf: contentDaysOf,
  apply: eraseContent,
};

/** The second stage, which deletes the run; a run that still has content waits for the first stage. */
export const RUNS: Stage = {
  name: 'runs',
  next: sql`content_erased_at is not null and not pinned`,
  daysOfAll: ({ runDays }) => runDays,
  daysOf: runDaysOf,
  apply: deleteRuns,
};

/**
 * Erases everything that people, models and tools have written into ended runs: prompts, variables, messages, arguments
 * and results of tools, results and summaries, data and changes, faults of results, which may quote them, and webhook
 * bodies. States, reasons, times, usage and names of tools stay. A run with a delivery still to be made is left for
 * later.
 * @param runIds runs that the transaction has locked
 * @returns how many are erased
 */
async function eraseContent(tx: Db, runIds: readonly string[]): Promise<number> {
  const sending = new Set(await eraseBodies(tx, runIds));
  const ids = runIds.filter((id) => !sending.has(id));
  await eraseMessages(tx, ids);
  await eraseChatResponses(tx, ids);
  await eraseActions(tx, ids);
  return tx.run`
    with texts as (
      update steps set text = null, messages = null,
        tool = case when tool is not null then ${erasedTool} end,
        error_message = case when kind = 'model' then error_message end
      where run_id = any(${ids})
    )
    update runs set prompt = null, briefing = null, result = null, outcome_summary = null, data = null, changes = null,
      variables = '{}', message = null, verdict = verdict || '{"note": null}', gate = case when gate is not null then ${erasedGate} end, content_erased_at = now(),
      error_message = case when reason is distinct from 'result_invalid' then error_message end
    where id = any(${ids})
  `;
}

/**
 * SQL expression for the remaining fields of a gate's verdict. Its error is erased too, since it may quote the
 * routine's instructions.
 */
const erasedGate = sql`jsonb_build_object(
  'at', gate->'at', 'changed', gate->'changed', 'failed', gate->'failed', 'reason', gate->'reason', 'error', null,
  'value', null, 'valueLength', gate->'valueLength', 'seen', null, 'call', jsonb_build_object(
    'tool', gate->'call'->'tool', 'url', null, 'status', gate->'call'->'status', 'sent', gate->'call'->'sent'))`;

/**
 * SQL expression for the remaining fields of a tool call. It lists the fields without private content, so that a new
 * field is erased. The name of a tool that was never offered is the model's invention, a person wrote the name of a
 * connection, and the error of a call may quote the response.
 */
const erasedTool = sql`jsonb_build_object(
  'name', case when tool->>'toolName' is null then '' else tool->>'name' end,
  'toolName', tool->'toolName', 'connectionId', tool->'connectionId', 'connectionName', null,
  'policyId', tool->'policyId',
  'arguments', null, 'argumentsLength', tool->'argumentsLength', 'isError', tool->'isError',
  'result', null, 'resultLength', tool->'resultLength',
  'structured', null, 'structuredLength', tool->'structuredLength', 'attachments', '[]'::jsonb,
  'omittedFromStep', tool->'omittedFromStep')
  || case when tool ? 'action' then jsonb_build_object('action', tool->'action') else '{}' end`;

/**
 * Deletes ended runs with their steps, deliveries and messages. Their usage stays in the ledger and the totals, and a
 * version that one of them proved stays proven.
 * @param runIds runs that the transaction has locked
 * @returns how many are deleted
 */
async function deleteRuns(tx: Db, runIds: readonly string[]): Promise<number> {
  await keepProofs(tx, runIds);
  await deleteDeliveries(tx, runIds);
  await deleteMessages(tx, runIds);
  await deleteChatDeliveries(tx, runIds);
  await deleteActions(tx, runIds);
  return tx.run`
    with recorded as (
      delete from steps where run_id = any(${runIds})
    )
    delete from runs where id = any(${runIds})
  `;
}
