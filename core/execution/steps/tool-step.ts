import type { Core } from '#core/core.ts';
import {
  asking,
  builtInTool,
  callOnce,
  notReadOnly,
  rehearsing,
  type ToolCallDeps,
  type ToolPolicy,
} from '#core/integrations/tools/index.ts';
import { ownedBy, persistently, sql, type Db } from '#lib/database/index.ts';
import { performAsk } from './ask-step.ts';
import { confirmByRule, holdToolStep, refusedReference, ruleFor } from './hold-step.ts';
import { builtInEnd, endOf, shownArguments } from './tool-step-end.ts';
import {
  confirmSending,
  readToolStep,
  recordToolStep,
  type StepKey,
  type ToolStepOutcome,
} from './tool-step-record.ts';

/**
 * Performs one tool call of a run. A failed call is a result for the model, never an error; a call that may have been
 * carried out is repeated only if that does no harm.
 * @throws the signal's reason, when it was aborted
 */
export async function performToolStep(
  deps: ToolCallDeps & Pick<Core, 'uiOrigin' | 'work'>,
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
  const holds = target?.policy.state === 'hold';
  const isStaged = step.isRehearsal && target !== undefined && (holds || notReadOnly(target.policy) !== undefined);
  const isHeld = !isStaged && holds && state === 'pending';
  const rule = isHeld ? await ruleFor(deps.database, step) : undefined;
  if (isHeld && rule === undefined) return holdToolStep(deps, key, { ...step, target }, signal);
  const caller = { runId: key.runId, signal };
  const permitted = rule !== undefined || (isStaged && holds);
  const wanted = { ...step, input: tool.input, maybeSent: state === 'started', permitted };
  const call =
    (await refusedReference(deps.database, key, step)) ??
    (isStaged
      ? await rehearsing.stageCall(deps, caller, wanted, (policy) => lastAnswer(deps.database, policy))
      : await callOnce(deps, caller, wanted, (policy, secrets) => {
          const shown = shownArguments(tool.input, secrets);
          const sending = { ...key, state, attempt, policy };
          return rule === undefined
            ? confirmSending(deps.database, sending, shown)
            : confirmByRule(deps, sending, shown, rule);
        }));
  // Look again, because another attempt that counted as dead has sent the call, or the run or the policy has changed.
  if (call.kind === 'overtaken') return performToolStep(deps, key, signal);
  const isCancelled = call.kind === 'failed' && signal.aborted;
  // Leave the call to the next attempt, which another worker makes.
  if (isCancelled && !call.uncertain) throw signal.reason;
  const end = endOf(tool, call);
  await persistently(() => recordToolStep(deps.database, key, end), signal);
  if (isCancelled) throw signal.reason;
  return end.state;
}

/** Number of runs searched for the last answer of a tool. */
const MOST_LOOKED_AT = 20;

/** Finds the text of the last real answer that a tool gave the routine; undefined once the text is erased. */
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
      and s.tool->>'rehearsed' is null and coalesce(nullif(s.tool->>'result', ''), s.tool->>'structured') is not null
    order by s.run_id desc, s.index desc limit 1
  `;
  return found?.answer;
}
