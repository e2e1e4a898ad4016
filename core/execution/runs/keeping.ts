import { recordProjectAudit, type Actor } from '#core/foundation/audit/index.ts';
import { sql, lockKey, transaction, type Database, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { runColumns, type Run } from './run.ts';

export const MAX_PINNED = 1_000;

/**
 * Pins a run, so that it is kept with its content beyond the retention of its project, or unpins it. Erased content
 * stays erased.
 * @throws {AppError} `run_not_found`, `allowance_exceeded` when the project has reached its number of pinned runs
 */
export function pinRun(
  database: Database,
  by: Actor,
  input: { projectId: string; id: string; pinned: boolean },
): Promise<Run> {
  const { projectId, id, pinned } = input;
  return transaction(database, async (tx) => {
    // Pin one run of a project at a time, so that two pins at once cannot exceed the limit together.
    if (pinned) await lockKey(tx, `ras:pin:${projectId}`);
    const found = await tx.row<Run & { was: boolean }>`
      with before as (
        select id as "pinnedId", pinned as was from runs where id = ${id} and project_id = ${projectId} for update
      )
      update runs set pinned = ${pinned} from before
      where id = before."pinnedId" and project_id = ${projectId}
        and exists (select from projects p where p.id = ${projectId} and p.deleted_at is null)
      returning ${runColumns}, was
    `;
    if (found === undefined) throw new AppError('run_not_found');
    if (pinned && (await countPinned(tx, projectId)) > MAX_PINNED) {
      throw new AppError(
        'allowance_exceeded',
        `The project has ${MAX_PINNED} pinned runs, the most allowed; unpin one first.`,
      );
    }
    const { was, ...run } = found;
    if (was !== pinned) {
      const action = pinned ? 'run.pinned' : 'run.unpinned';
      const details = { routineId: run.routineId };
      await recordProjectAudit(tx, { by, projectId, action, targetId: id, details });
    }
    return run;
  });
}

/** Unpins all runs of a project that is being deleted. */
export async function unpinRuns(tx: Db, projectId: string): Promise<void> {
  await lockKey(tx, `ras:pin:${projectId}`);
  await tx.run`update runs set pinned = false where project_id = ${projectId} and pinned`;
}

async function countPinned(db: Db, projectId: string): Promise<number> {
  const found = await db.row<{ count: number }>`
    select count(*) as count from runs where project_id = ${projectId} and pinned
  `;
  return found?.count ?? 0;
}

/** Erases the texts of runs that the transaction has locked, and of their steps. @returns the number of runs */
export function eraseTexts(tx: Db, runIds: readonly string[]): Promise<number> {
  return tx.run`
    with texts as (
      update steps set text = null, messages = null,
        tool = case when tool is not null then ${erasedTool} end,
        error_message = case when kind = 'model' then error_message end
      where run_id = any(${runIds})
    )
    update runs set prompt = null, briefing = null, result = null, outcome_summary = null, data = null, changes = null,
      variables = '{}', message = null, verdict = verdict || '{"note": null}',
      gate = case when gate is not null then ${erasedGate} end, content_erased_at = now(),
      error_message = case when reason is distinct from 'result_invalid' then error_message end
    where id = any(${runIds})
  `;
}

/**
 * SQL expression for the fields of a gate's verdict that stay. The error is erased, because it may quote the routine's
 * instructions.
 */
const erasedGate = sql`jsonb_build_object(
  'at', gate->'at', 'changed', gate->'changed', 'failed', gate->'failed', 'reason', gate->'reason', 'error', null,
  'value', null, 'valueLength', gate->'valueLength', 'seen', null, 'call', jsonb_build_object(
    'tool', gate->'call'->'tool', 'url', null, 'status', gate->'call'->'status', 'sent', gate->'call'->'sent'))`;

/**
 * SQL expression for the fields of a tool call that stay. It lists the fields without private content, so that a new
 * field is erased. The name of a tool that was never offered is erased because the model invented it, the name of a
 * connection because a person wrote it, and the error of a call because it may quote the response.
 */
const erasedTool = sql`jsonb_build_object(
  'name', case when tool->>'toolName' is null then '' else tool->>'name' end,
  'toolName', tool->'toolName', 'connectionId', tool->'connectionId', 'connectionName', null,
  'policyId', tool->'policyId',
  'arguments', null, 'argumentsLength', tool->'argumentsLength', 'isError', tool->'isError',
  'result', null, 'resultLength', tool->'resultLength',
  'structured', null, 'structuredLength', tool->'structuredLength', 'attachments', '[]'::jsonb,
  'omittedFromStep', tool->'omittedFromStep', 'rehearsed', tool->'rehearsed')
  || case when tool ? 'action' then jsonb_build_object('action', tool->'action') else '{}' end`;

/** Deletes runs that the transaction has locked, with their steps. @returns the number of runs */
export function deleteRows(tx: Db, runIds: readonly string[]): Promise<number> {
  return tx.run`
    with recorded as (
      delete from steps where run_id = any(${runIds})
    )
    delete from runs where id = any(${runIds})
  `;
}
