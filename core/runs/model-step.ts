import { costOf, releaseAttempt } from '#core/usage/index.ts';
import { persistently, type Database } from '#lib/database/index.ts';
import { afterEnd } from './after-end.ts';
import { beginStep, type RunContext } from './begin-step.ts';
import { startDeadline, type Deadline } from './deadline.ts';
import { endRun, type EndRunDeps } from './end-run.ts';
import { endUnwanted } from './end-unwanted.ts';
import { cancellation, failure, type RunEnding } from './ending.ts';
import { countInput, type ModelCall, type ModelCaller } from './model-call.ts';
import { openingMessages, PREAMBLE } from './opening.ts';
import { planToolCalls, toolSet } from './plan-tool-calls.ts';
import { preflight, type PreflightDeps } from './preflight.ts';
import { recordResponse } from './record-response.ts';
import { reserveStep, type ReserveDeps } from './reserve-step.ts';
import { readOutcome, type StepOutcome } from './step-outcome.ts';

export interface ModelStepDeps extends PreflightDeps, EndRunDeps, ReserveDeps {
  readonly database: Database;
  readonly caller: ModelCaller;
  /** The build that this process is of; none unless builds are kept apart. */
  readonly buildId: string | undefined;
}

/**
 * Performs one model step of a run: the preflight, the call, and the record of its response with all that the response
 * leads to. A run that needs no tools is one such step.
 * @throws {ModelFailure} when the call failed
 */
export async function performModelStep(
  deps: ModelStepDeps,
  input: { runId: string; index: number },
  signal: AbortSignal,
): Promise<StepOutcome> {
  const { runId, index } = input;
  const run = await persistently(
    () => beginStep(deps.database, runId, index, deps.buildId),
    signal,
  );
  if (run === undefined) {
    return (await endUnwanted(deps, runId)) ?? readOutcome(deps.database, runId, index);
  }
  if (run.modelSteps === 0) deps.runChanges.tell(runId);
  if (run.cancelRequested) return end(deps, runId, cancellation);
  if (run.remainingMs <= 0) return end(deps, runId, timeOver(run));
  const deadline = startDeadline(run.remainingMs, signal);
  try {
    return await performInTime(deps, run, index, deadline);
  } catch (error) {
    if (!deadline.isOver()) throw error;
    return end(deps, runId, timeOver(run));
  } finally {
    deadline.clear();
  }
}

/** A run whose time went by in attempts that its provider failed has not been too slow itself. */
function timeOver({ providerFailures }: RunContext): RunEnding {
  return failure(providerFailures > 0 ? 'model_unreachable' : 'timeout');
}

/** Asks the model and records its response. @throws also when the deadline is over */
async function performInTime(
  deps: ModelStepDeps,
  run: RunContext,
  index: number,
  deadline: Deadline,
): Promise<StepOutcome> {
  const { signal } = deadline;
  const ready = await preflight(deps, run, signal);
  if ('reason' in ready) return end(deps, run.id, failure(ready.reason));

  const call: ModelCall = {
    modelId: run.model.modelId,
    instructions: PREAMBLE,
    messages: [...openingMessages(ready), ...run.transcript],
    tools: toolSet(run.tools),
    signal,
  };
  const grant = await reserveStep(deps, run, index, {
    option: ready.option,
    countInput: () => countInput(call),
    maxCallMs: Math.min(run.remainingMs, deps.caller.timeoutMs),
  });
  if (grant.kind === 'overtaken') return readOutcome(deps.database, run.id, index);
  if (grant.kind === 'refused') return end(deps, run.id, failure(grant.reason));
  if (grant.kind === 'wait') {
    return { next: 'wait', delayMs: grant.delayMs, remainingMs: deadline.remainingMs() };
  }
  const { maxOutputTokens, cutBy } = grant;
  const attempt = { runId: run.id, index, attempt: run.attempt };
  const response = await deps.caller.call({ ...call, maxOutputTokens }).catch(async (error) => {
    // Nothing of it can be settled any more. Where this fails, the lease of the reservation runs out.
    if (grant.reserved) await releaseAttempt(deps.database, attempt).catch(() => undefined);
    throw error;
  });
  const costUsd = costOf(response.usage, ready.option.prices);
  deps.metrics.modelCost(ready.option.modelId, costUsd);
  const { messages, ...calls } = planToolCalls(response, run.tools);
  const { prompt, briefing } = ready;
  const record = { ...attempt, prompt, briefing, response, messages, costUsd, cutBy };
  // A response that could not be recorded would be paid for a second time.
  const recorded = await persistently(
    () => recordResponse(deps.database, run, record, calls, () => deadline.remainingMs()),
    signal,
  );
  if (recorded.end === undefined) deps.runChanges.tell(run.id);
  else await afterEnd(deps, recorded.end);
  return recorded.outcome;
}

/** Ends the run without a call of its model. */
async function end(deps: ModelStepDeps, runId: string, ending: RunEnding): Promise<StepOutcome> {
  await endRun(deps, runId, ending);
  return { next: 'ended', state: ending.state };
}
