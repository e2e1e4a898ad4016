import type { Core } from '#core/core.ts';
import {
  asking,
  builtInTool,
  callOnce,
  notReadOnly,
  policyUnchanged,
  rehearsing,
  targetJson,
  targetOf,
  type PendingTool,
  type TargetJson,
  type ToolCallDeps,
  type ToolPolicy,
  type ToolRecord,
  type ToolTarget,
} from '#core/integrations/tools/index.ts';
import { ownedBy, persistently, sql, storableJson, type Db } from '#lib/database/index.ts';
import { performAsk } from './ask-step.ts';
import { builtInEnd, endOf, shownArguments, type ToolStepEnd } from './tool-step-end.ts';

/** The outcome of a call as the workflow sees it, which does not act on it. */
export type ToolStepOutcome = ToolStepEnd['state'] | 'skipped';

interface StepKey {
  readonly runId: string;
  readonly index: number;
}

/**
 * Performs one tool call of a run. A failed call is a result for the model, never an error; a call that may have been
 * carried out is repeated only if that does no harm.
 * @throws the signal's reason, when it was aborted
 */
export async function performToolStep(
  deps: ToolCallDeps & Pick<Core, 'work'>,
  key: StepKey,
  signal: AbortSignal,
): Promise<ToolStepOutcome> {
  const step = await readToolStep(deps.database, key.runId, key.index);
  if (step === undefined || step.runState !== 'running' || step.cancelRequested) return 'skipped';
  if (step.state !== 'pending' && step.state !== 'started') return step.state;
  if (step.tool.toolName === asking.ASK && step.tool.policyId === null) {
    const end = await persistently(() => performAsk(deps, { ...key, ...step }, recordToolStep), signal);
    return end.state;
  }
  const builtIn = builtInTool(step.tool);
  if (builtIn !== undefined) {
    const end = builtInEnd(step.tool, builtIn.execute(step.tool.input));
    await persistently(() => recordToolStep(deps.database, key, end), signal);
    return end.state;
  }
  const { tool, state, attempt, target } = step;
  const caller = { runId: key.runId, signal };
  const wanted = { ...step, input: tool.input, maybeSent: state === 'started' };
  const isStaged = step.isRehearsal && target !== undefined && notReadOnly(target.policy) !== undefined;
  const call = isStaged
    ? await rehearsing.stageCall(deps, caller, wanted, (policy) => lastAnswer(deps.database, policy))
    : await callOnce(deps, caller, wanted, (policy, secrets) => {
        const shown = shownArguments(tool.input, secrets);
        return confirmSending(deps.database, { ...key, state, attempt, policy }, shown);
      });
  // Look again, because another attempt that counted as dead has sent the call, or the run or the policy has changed.
  if (call.kind === 'overtaken') return performToolStep(deps, key, signal);
  const isCancelled = call.kind === 'failed' && signal.aborted;
  // The next attempt, on another worker, may make the call.
  if (isCancelled && !call.uncertain) throw signal.reason;
  const end = endOf(tool, call);
  await persistently(() => recordToolStep(deps.database, key, end), signal);
  if (isCancelled) throw signal.reason;
  return end.state;
}

interface ToolStep {
  readonly runState: string;
  readonly runStartedAt: Date;
  readonly cancelRequested: boolean;
  readonly isRehearsal: boolean;
  readonly state: 'pending' | 'started' | 'succeeded' | 'failed' | 'outcome_unknown';
  readonly attempt: number;
  readonly tool: PendingTool;
  /** The calls that this run has sent before under the same policy, including the gate's. */
  readonly earlierCalls: number;
  /** Undefined if the policy or the connection is gone. */
  readonly target: ToolTarget | undefined;
}

/** Reads a call, its policy and its connection, in one statement. */
async function readToolStep(db: Db, runId: string, index: number): Promise<ToolStep | undefined> {
  const target = targetJson({
    projectId: sql`s.project_id`,
    routineId: sql`r.routine_id`,
    policyId: sql`(s.tool->>'policyId')`,
    connectionId: sql`(s.tool->>'connectionId')`,
  });
  const found = await db.row<Omit<ToolStep, 'target'> & { target: TargetJson | null }>`
    select r.state as "runState", r.started_at as "runStartedAt",
      r.cancel_requested_at is not null as "cancelRequested", r.trigger = 'rehearsal' as "isRehearsal", s.state, s.attempt, s.tool,
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

/**
 * Notes that the call goes out now, so that a worker which finds the step knows that it may have been carried out. The
 * note is refused when step, run or policy have changed since the call was judged.
 */
async function confirmSending(
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

/** Runs in which the last answer of a tool is looked for. */
const MOST_LOOKED_AT = 20;

/** Finds the text of the last real answer of a tool to its routine; undefined once it is erased. */
async function lastAnswer(
  db: Db,
  { id, projectId, routineId }: Pick<ToolPolicy, 'id' | 'projectId' | 'routineId'>,
): Promise<string | undefined> {
  const found = await db.row<{ answer: string }>`
    select coalesce(nullif(s.tool->>'result', ''), s.tool->>'structured') as answer
    from (
      select id from runs
      where ${ownedBy(sql`routine_id`, routineId)} and project_id = ${projectId} and trigger <> 'rehearsal'
      order by routine_id, id desc limit ${MOST_LOOKED_AT}
    ) latest
    join steps s on s.run_id = latest.id and s.project_id = ${projectId}
    where s.kind = 'tool' and s.state = 'succeeded' and s.tool->>'policyId' = ${id}
      and coalesce(nullif(s.tool->>'result', ''), s.tool->>'structured') is not null
    order by s.run_id desc, s.index desc limit 1
  `;
  return found?.answer;
}

/** Only the first attempt to record the end of a call succeeds. */
async function recordToolStep(db: Db, step: { runId: string; index: number }, end: ToolStepEnd): Promise<boolean> {
  const recorded = await db.run`
    update steps set state = ${end.state}, error_message = ${end.errorMessage}, finished_at = now(),
      started_at = case when ${end.madeNow === true}::boolean then now() else started_at end,
      messages = ${storableJson([end.message])}::jsonb,
      tool = (tool - 'input') || ${storableJson(end.record)}::jsonb
    where run_id = ${step.runId} and index = ${step.index} and state in ('pending', 'started')
  `;
  return recorded > 0;
}
