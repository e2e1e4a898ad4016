import type { Core } from '#core/core.ts';
import { builtInTool, callOnce, type ToolCallDeps } from '#core/integrations/tools/index.ts';
import { persistently } from '#lib/database/index.ts';
import { confirmByRule, holdToolStep, ruleFor } from './hold-step.ts';
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
  const builtIn = builtInTool(step.tool);
  if (builtIn !== undefined) {
    const end = builtInEnd(step.tool, builtIn.execute(step.tool.input));
    await persistently(() => recordToolStep(deps.database, key, end), signal);
    return end.state;
  }
  const { tool, state, attempt, target } = step;
  const isHeld = target?.policy.state === 'hold' && state === 'pending';
  const rule = isHeld ? await ruleFor(deps.database, step) : undefined;
  if (isHeld && rule === undefined) return holdToolStep(deps, key, { ...step, target }, signal);
  const call = await callOnce(
    deps,
    { runId: key.runId, signal },
    { ...step, input: tool.input, maybeSent: state === 'started', permitted: rule !== undefined },
    (policy, secrets) => {
      const shown = shownArguments(tool.input, secrets);
      const sending = { ...key, state, attempt, policy };
      return rule === undefined
        ? confirmSending(deps.database, sending, shown)
        : confirmByRule(deps, sending, shown, rule);
    },
  );
  // Another attempt, thought dead, has sent the call after all, or the run or the policy has changed: look again.
  if (call.kind === 'overtaken') return performToolStep(deps, key, signal);
  const isCancelled = call.kind === 'failed' && signal.aborted;
  // The next attempt, on another worker, may make the call.
  if (isCancelled && !call.uncertain) throw signal.reason;
  const end = endOf(tool, call);
  await persistently(() => recordToolStep(deps.database, key, end), signal);
  if (isCancelled) throw signal.reason;
  return end.state;
}
