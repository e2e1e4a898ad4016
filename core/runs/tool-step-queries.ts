import { targetJson, targetOf, type TargetJson, type ToolTarget } from '#core/connections/index.ts';
import { execute, row, sql, storableJson, type Db, type Sql } from '#lib/database/index.ts';
import type { ModelMessage } from 'ai';
import type { PendingTool, PlannedCall, ToolRecord } from './tool-record.ts';

export interface ToolStep {
  readonly runState: string;
  readonly runStartedAt: Date;
  readonly cancelRequested: boolean;
  readonly state: 'pending' | 'started' | 'succeeded' | 'failed' | 'outcome_unknown';
  readonly attempt: number;
  readonly tool: PendingTool;
  /** Calls of the same policy that this run has sent before. */
  readonly earlierCalls: number;
  /** Undefined where the policy or the connection is gone. */
  readonly target: ToolTarget | undefined;
}

/** All that is on record of a call, and of what it would be made with, in one statement. */
export async function readToolStep(
  db: Db,
  runId: string,
  index: number,
): Promise<ToolStep | undefined> {
  const target = targetJson({
    projectId: sql`s.project_id`,
    routineId: sql`r.routine_id`,
    policyId: sql`(s.tool->>'policyId')`,
    connectionId: sql`(s.tool->>'connectionId')`,
  });
  const found = await row<Omit<ToolStep, 'target'> & { target: TargetJson | null }>(
    db,
    sql`
      select r.state as "runState", r.started_at as "runStartedAt",
        r.cancel_requested_at is not null as "cancelRequested", s.state, s.attempt, s.tool,
        (select count(*) from steps e where e.run_id = s.run_id and e.index < s.index and e.kind = 'tool'
          and e.tool->>'policyId' = s.tool->>'policyId' and e.started_at is not null) as "earlierCalls",
        ${target} as target
      from steps s join runs r on r.id = s.run_id
      where s.run_id = ${runId} and s.index = ${index} and s.kind = 'tool'
    `,
  );
  if (found === undefined) return undefined;
  return { ...found, target: found.target === null ? undefined : targetOf(found.target) };
}

/**
 * The insertion of the calls of a model's answer, as steps of their own from `firstIndex` on, in a statement that has
 * recorded the answer as its `step`.
 */
export function callsOfStep(firstIndex: number, calls: readonly PlannedCall[]): Sql {
  const steps = calls.map(({ error, ...tool }, offset) => ({
    index: firstIndex + offset,
    state: error === null ? 'pending' : 'failed',
    error_message: error,
    tool,
  }));
  return sql`
    insert into steps (run_id, index, project_id, kind, state, error_message, tool, finished_at)
    select step.run_id, s.index, step.project_id, 'tool', s.state, s.error_message, s.tool,
      case when s.state = 'failed' then now() end
    from step, jsonb_to_recordset(${storableJson(steps)}::jsonb)
      as s(index integer, state text, error_message text, tool jsonb)
    on conflict do nothing
  `;
}

/**
 * Notes that the call goes out now: whoever finds the step like this later knows that it may have been carried out.
 * Only while the run goes on, the policy is what was confirmed, and no other attempt was here since.
 */
export async function markSending(
  db: Db,
  step: { runId: string; index: number; attempt: number; seen: 'pending' | 'started' },
  shown: Pick<ToolRecord, 'arguments' | 'argumentsLength'>,
): Promise<'go' | 'not_automatic' | 'superseded'> {
  const found = await row<{ automatic: boolean; marked: boolean }>(
    db,
    sql`
      with candidate as (
        select s.run_id, s.index, exists (
          select 1 from tool_policies p
          where p.id = s.tool->>'policyId' and p.state = 'automatic' and p.confirmed_hash = p.definition_hash
        ) as automatic
        from steps s join runs r on r.id = s.run_id
        where s.run_id = ${step.runId} and s.index = ${step.index} and s.state = ${step.seen}
          and s.attempt = ${step.attempt} and r.state = 'running'
        for update of s
      ), marked as (
        update steps s set state = 'started', started_at = coalesce(s.started_at, now()),
          attempt = case when s.state = 'started' then s.attempt + 1 else s.attempt end,
          tool = s.tool || ${storableJson(shown)}::jsonb
        from candidate c
        where s.run_id = c.run_id and s.index = c.index and c.automatic
        returning s.index
      )
      select automatic, exists (select 1 from marked) as marked from candidate
    `,
  );
  if (found === undefined) return 'superseded';
  return found.marked ? 'go' : 'not_automatic';
}

export interface ToolStepEnd {
  readonly state: 'succeeded' | 'failed' | 'outcome_unknown';
  readonly errorMessage: string | null;
  readonly record: Partial<ToolRecord>;
  /** What the model is told. */
  readonly message: ModelMessage;
}

/** Records how a call came out, once: the first attempt to say so holds. */
export async function recordToolStep(
  db: Db,
  step: { runId: string; index: number },
  end: ToolStepEnd,
): Promise<boolean> {
  const recorded = await execute(
    db,
    sql`
      update steps set state = ${end.state}, error_message = ${end.errorMessage}, finished_at = now(),
        messages = ${storableJson([end.message])}::jsonb,
        tool = (tool - 'input') || ${storableJson(end.record)}::jsonb
      where run_id = ${step.runId} and index = ${step.index} and state in ('pending', 'started')
    `,
  );
  return recorded > 0;
}
