import {
  policyUnchanged,
  targetJson,
  targetOf,
  type TargetJson,
  type ToolPolicy,
  type ToolTarget,
  type PendingTool,
  type ToolRecord,
} from '#core/tools/index.ts';
import { execute, row, sql, storableJson, type Db } from '#lib/database/index.ts';
import type { ModelMessage } from 'ai';

export interface ToolStep {
  readonly runState: string;
  readonly runStartedAt: Date;
  readonly cancelRequested: boolean;
  readonly state: 'pending' | 'started' | 'succeeded' | 'failed' | 'outcome_unknown';
  readonly attempt: number;
  readonly tool: PendingTool;
  /** The calls that this run has sent before under the same policy, that of its gate with them. */
  readonly earlierCalls: number;
  /** Undefined where the policy or the connection is gone. */
  readonly target: ToolTarget | undefined;
}

/** Reads all that is on record of a call, and of what it would be made with, in one statement. */
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
          and e.tool->>'policyId' = s.tool->>'policyId' and e.started_at is not null)
          + case when r.gate->'call'->'tool'->>'policyId' = s.tool->>'policyId' and r.gate->'call'->>'sent' = 'true'
            then 1 else 0 end as "earlierCalls",
        ${target} as target
      from steps s join runs r on r.id = s.run_id
      where s.run_id = ${runId} and s.index = ${index} and s.kind = 'tool'
    `,
  );
  if (found === undefined) return undefined;
  return { ...found, target: found.target === null ? undefined : targetOf(found.target) };
}

/**
 * Notes that the call goes out now: whoever finds the step like this later knows that it may have been carried out.
 * Nothing is decided here; the note is refused when the step, the run or the policy is not what was decided on.
 */
export async function confirmSending(
  db: Db,
  decided: {
    readonly runId: string;
    readonly index: number;
    readonly state: ToolStep['state'];
    readonly attempt: number;
    readonly policy: ToolPolicy;
  },
  shown: Pick<ToolRecord, 'arguments' | 'argumentsLength'>,
): Promise<boolean> {
  const { policy } = decided;
  const noted = await execute(
    db,
    sql`
      update steps s set state = 'started', started_at = coalesce(s.started_at, now()),
        attempt = case when s.state = 'started' then s.attempt + 1 else s.attempt end,
        tool = s.tool || ${storableJson(shown)}::jsonb
      from runs r
      where s.run_id = ${decided.runId} and s.index = ${decided.index} and s.project_id = ${policy.projectId}
        and s.state = ${decided.state} and s.attempt = ${decided.attempt}
        and r.id = s.run_id and r.state = 'running' and ${policyUnchanged(policy)}
    `,
  );
  return noted > 0;
}

export interface ToolStepEnd {
  readonly state: 'succeeded' | 'failed' | 'outcome_unknown';
  readonly errorMessage: string | null;
  readonly record: Partial<ToolRecord>;
  /** The call was made in no time, and nothing was noted before it. */
  readonly madeNow?: true;
  /** The result of the call for the model. */
  readonly message: ModelMessage;
}

/** Records the end of a call, once: the first attempt to do so holds. */
export async function recordToolStep(
  db: Db,
  step: { runId: string; index: number },
  end: ToolStepEnd,
): Promise<boolean> {
  const recorded = await execute(
    db,
    sql`
      update steps set state = ${end.state}, error_message = ${end.errorMessage}, finished_at = now(),
        started_at = case when ${end.madeNow === true}::boolean then now() else started_at end,
        messages = ${storableJson([end.message])}::jsonb,
        tool = (tool - 'input') || ${storableJson(end.record)}::jsonb
      where run_id = ${step.runId} and index = ${step.index} and state in ('pending', 'started')
    `,
  );
  return recorded > 0;
}
