import {
  policyUnchanged,
  targetJson,
  targetOf,
  type PendingTool,
  type TargetJson,
  type ToolPolicy,
  type ToolRecord,
  type ToolTarget,
} from '#core/integrations/tools/index.ts';
import type { StepState } from '#core/execution/run-states/index.ts';
import { sql, storableJson, type Db } from '#lib/database/index.ts';
import type { ToolStepEnd } from './tool-step-end.ts';

/** The outcome of a call. The workflow gets the outcome but does not act on it. */
export type ToolStepOutcome = ToolStepEnd['state'] | 'skipped';

export interface StepKey {
  readonly runId: string;
  readonly index: number;
}

export interface ToolStep {
  readonly runState: string;
  readonly runStartedAt: Date;
  readonly cancelRequested: boolean;
  /** True for a rehearsal, and for a follow-up about a rehearsal. */
  readonly isRehearsal: boolean;
  readonly state: StepState;
  readonly attempt: number;
  readonly tool: PendingTool;
  /** The calls that this run has sent before under the same policy, including the call of the gate. */
  readonly earlierCalls: number;
  /** Policy and connection of the call; undefined if one of them is gone. */
  readonly target: ToolTarget | undefined;
}

/** Reads a call, its policy and its connection, in one statement. */
export async function readToolStep(db: Db, runId: string, index: number): Promise<ToolStep | undefined> {
  const target = targetJson({
    projectId: sql`s.project_id`,
    routineId: sql`r.routine_id`,
    policyId: sql`(s.tool->>'policyId')`,
  });
  const found = await db.row<Omit<ToolStep, 'target'> & { target: TargetJson | null }>`
    select r.state as "runState", r.started_at as "runStartedAt",
      r.cancel_requested_at is not null as "cancelRequested", r.trigger = 'rehearsal' or exists (select from runs a
        where a.id = r.follows_up and a.project_id = r.project_id and a.trigger = 'rehearsal') as "isRehearsal",
      s.state, s.attempt, s.tool,
      (select count(*) from steps e where e.run_id = s.run_id and e.index < s.index and e.kind = 'tool'
        and e.tool->>'policyId' = s.tool->>'policyId' and e.started_at is not null)
        + case when r.gate->'call'->'tool'->>'policyId' = s.tool->>'policyId' and r.gate->'call'->>'sent' = 'true'
          then 1 else 0 end as "earlierCalls",
      ${target} as target
    from steps s join runs r on r.id = s.run_id
    where s.run_id = ${runId} and s.index = ${index} and s.kind = 'tool'
  `;
  if (found === undefined) return undefined;
  return { ...found, target: found.target === null ? undefined : targetOf(found.target) };
}

/** A call that is about to be sent, with its judgement. */
export interface Sending extends StepKey {
  readonly state: ToolStep['state'];
  readonly attempt: number;
  readonly policy: ToolPolicy;
}

/**
 * Notes that the call is about to be sent, so that a later worker knows that it may have been carried out. The note is
 * refused when step, run or policy have changed since the call was judged.
 */
export async function confirmSending(
  db: Db,
  decided: Sending,
  shown: Pick<ToolRecord, 'arguments' | 'argumentsLength' | 'rule'>,
): Promise<boolean> {
  const { policy } = decided;
  const noted = await db.run`
    update steps s set state = 'started', started_at = coalesce(s.started_at, now()),
      attempt = case when s.state = 'started' then s.attempt + 1 else s.attempt end,
      tool = s.tool || ${storableJson(shown)}::jsonb
    from runs r
    where s.run_id = ${decided.runId} and s.index = ${decided.index} and s.project_id = ${policy.projectId}
      and s.state = ${decided.state} and s.attempt = ${decided.attempt}
      and r.id = s.run_id and r.state = 'running' and ${policyUnchanged(policy)}
  `;
  return noted > 0;
}

/** Records the end of a call. Only the first attempt to record it succeeds. */
export async function recordToolStep(db: Db, step: StepKey, end: ToolStepEnd): Promise<boolean> {
  const recorded = await db.run`
    update steps set state = ${end.state}, error_message = ${end.errorMessage}, finished_at = now(),
      started_at = case when ${end.madeNow === true}::boolean then now() else started_at end,
      messages = ${storableJson([end.message])}::jsonb,
      tool = (tool - 'input') || ${storableJson(end.record)}::jsonb
    where run_id = ${step.runId} and index = ${step.index} and state in ('pending', 'started')
  `;
  return recorded > 0;
}
