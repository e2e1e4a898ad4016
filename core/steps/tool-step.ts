import {
  builtInTool,
  prepareCall,
  type AnsweredCall,
  type FailedCall,
  type Refusal,
  type ToolCallDeps,
} from '#core/tools/index.ts';
import { persistently } from '#lib/database/index.ts';
import type { RunChanges } from '#core/runs/index.ts';
import { builtInEnd, refusedEnd, sentEnd, shownArguments, unknownEnd } from './tool-step-end.ts';
import {
  confirmSending,
  readToolStep,
  recordToolStep,
  type ToolStep,
  type ToolStepEnd,
} from './tool-step-queries.ts';

export interface ToolStepDeps extends ToolCallDeps {
  readonly runChanges: RunChanges;
}

/** The outcome of a call as the workflow sees it: nothing that it has to act on. */
export type ToolStepOutcome = ToolStepEnd['state'] | 'skipped';

interface StepKey {
  readonly runId: string;
  readonly index: number;
}

/**
 * Performs one tool call of a run. What goes wrong with it is a result for the model to deal with and never an error; a
 * call that may have been carried out is made again only where that does no harm.
 * @throws the signal's reason, when it was aborted
 */
export async function performToolStep(
  deps: ToolStepDeps,
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
  const call = await makeCall(deps, key, step, signal);
  // Another attempt, thought dead, has sent the call after all, or the run or the policy has changed: look again.
  if (call.kind === 'overtaken') return performToolStep(deps, key, signal);
  const isCancelled = call.kind === 'failed' && signal.aborted;
  // The next attempt, on another worker, may make the call.
  if (isCancelled && !call.uncertain) throw signal.reason;
  const end = endOf(step, call);
  await persistently(() => recordToolStep(deps.database, key, end), signal);
  deps.runChanges.tell(key.runId);
  if (isCancelled) throw signal.reason;
  return end.state;
}

type MadeCall =
  | AnsweredCall
  | FailedCall
  | Refusal
  | { readonly kind: 'maybe_sent' }
  | { readonly kind: 'overtaken' };

/** Makes the call where it may be made: decided first, noted as sent, then sent. */
async function makeCall(
  deps: ToolStepDeps,
  key: StepKey,
  step: ToolStep,
  signal: AbortSignal,
): Promise<MadeCall> {
  const { tool, state, attempt } = step;
  const call = await prepareCall(
    deps,
    { runId: key.runId, signal },
    { ...step, input: tool.input, maybeSent: state === 'started' },
  );
  if (call.kind !== 'prepared') return call;
  let confirmed = false;
  try {
    confirmed = await confirmSending(
      deps.database,
      { ...key, state, attempt, policy: call.policy },
      shownArguments(tool.input, call.secrets),
    );
  } finally {
    if (!confirmed) call.discard();
  }
  return confirmed ? call.send() : { kind: 'overtaken' };
}

function endOf({ tool }: ToolStep, call: Exclude<MadeCall, { kind: 'overtaken' }>): ToolStepEnd {
  switch (call.kind) {
    case 'refused':
      return refusedEnd(tool, call);
    case 'maybe_sent':
      return unknownEnd(tool);
    default:
      return sentEnd(tool, call);
  }
}
