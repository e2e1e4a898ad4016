import { costOf, releaseAttempt } from '#core/usage/index.ts';
import { execute, persistently, type Database } from '#lib/database/index.ts';
import type { AccountStep } from './account/step.ts';
import {
  afterEnd,
  endRun,
  type EndRunDeps,
  cancellation,
  failure,
  type RunEnding,
} from '#core/runs/index.ts';
import { beginStep, type RunContext } from './begin-step.ts';
import { startDeadline, type Deadline } from '#lib/deadline.ts';
import { settleCutCall } from './cut-call.ts';
import { endUnwanted } from './end-unwanted.ts';
import { fitCall } from './fit-call.ts';
import { passGate, type GateDeps } from './pass-gate.ts';
import { AccountBlocked, AccountBusy, CallUnwanted } from './account/not-made.ts';
import type { ModelCall, ModelCaller, ModelResponse } from './model-call.ts';
import { countInput } from './model-usage.ts';
import { settleLostCalls } from './lost-calls.ts';
import { openingMessages, PREAMBLE } from '#core/prompt/index.ts';
import { planToolCalls, toolSet } from './plan-tool-calls.ts';
import { preflight, type PreflightDeps } from './preflight.ts';
import { recordResponse } from './record-response.ts';
import { delayAfter, reserveStep, takeBackAttempt, type ReserveDeps } from './reserve-step.ts';
import { repairsText } from './judge-ending.ts';
import { readOutcome, type StepOutcome } from './step-outcome.ts';
import { warningsOf } from './warnings.ts';

export interface ModelStepDeps extends PreflightDeps, GateDeps, EndRunDeps, ReserveDeps {
  readonly database: Database;
  readonly caller: ModelCaller;
  /** The build of this process; undefined unless builds are kept apart. */
  readonly buildId: string | undefined;
}

/**
 * Performs one model step of a run: the preflight, the call, and the record of its response with everything that the
 * response leads to. A run that needs no tools is one such step.
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
  if (run.modelSteps === 0 && run.followed) deps.runChanges.tell(runId);
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

/**
 * Returns the ending of a run whose time is over; one that its provider's failures delayed has not been too slow
 * itself.
 */
function timeOver({ providerFailures }: RunContext): RunEnding {
  return failure(providerFailures > 0 ? 'model_unreachable' : 'timeout');
}

const HELD =
  'Other runs held what was left of a budget for longer than limits.maxQueueSeconds. The budget can be raised, or limits.maxOutputTokens lowered.';

/** Asks the model and records its response. @throws also when the deadline is over */
async function performInTime(
  deps: ModelStepDeps,
  run: RunContext,
  index: number,
  deadline: Deadline,
): Promise<StepOutcome> {
  const { signal } = deadline;
  const ready = await preflight(deps, run, signal, () => passGate(deps, run, signal));
  if ('outcome' in ready) return ready.outcome;
  if ('reason' in ready) return end(deps, run.id, failure(ready.reason, ready.detail));

  const { option } = ready;
  // A text that failed is asked for again under its schema, which leaves no room for tools.
  const tools = repairsText(run.transcript) ? {} : toolSet(run.tools);
  const isHeld = Object.keys(tools).length === 0 && option.abilities.structuredOutputs !== false;
  const call = await fitCall(
    deps.database,
    run,
    { index, option },
    {
      modelId: run.model.modelId,
      served: option.served,
      abilities: option.abilities,
      instructions: PREAMBLE,
      messages: openingMessages(ready),
      tools,
      resultSchema: isHeld ? run.resultForm?.schema : undefined,
      signal,
      account: accountStepOf(run, index, deadline),
    },
  );
  if ('state' in call) return end(deps, run.id, call);
  let counted: number | undefined;
  const countOnce = () => (counted ??= countInput(call));
  const grant = await reserveStep(deps, run, index, {
    option,
    countInput: countOnce,
    maxCallMs: Math.min(run.remainingMs, deps.caller.timeoutMs),
  });
  if (grant.kind === 'overtaken') return readOutcome(deps.database, run.id, index);
  if (grant.kind === 'refused') {
    const { reason, detail, passedLimit } = grant;
    return end(deps, run.id, { ...failure(reason, detail), passedLimit });
  }
  if (grant.kind === 'wait') {
    if (run.patienceMs <= 0) return end(deps, run.id, failure('budget_exceeded', HELD));
    // Whoever asks again finds the room of those that have died.
    await settleLostCalls(deps, signal, run);
    // Its place is free for another.
    if (!run.inLine) deps.admission.nudge();
    return { next: 'wait', delayMs: grant.delayMs, remainingMs: deadline.remainingMs() };
  }
  // Another of its project may wait for the budget in its stead.
  if (run.inLine) deps.admission.nudge();
  const { maxOutputTokens, cutBy } = grant;
  const attempt = { runId: run.id, index, attempt: run.attempt };
  const giveUp = async () => {
    // Nothing of it can be settled any more. Where this fails, the lease of the reservation runs out.
    if (grant.reserved) await releaseAttempt(deps.database, attempt).catch(() => undefined);
  };
  let isSent = false;
  const onSend = () => {
    isSent = true;
  };
  let response: ModelResponse | StepOutcome;
  try {
    response = await callModel(deps, run, index, { ...call, maxOutputTokens, onSend });
  } catch (error) {
    const unanswered = { call, attempt, option, isOver: deadline.isOver() };
    if (!isSent || !(await settleCutCall(deps, run, unanswered, error))) await giveUp();
    throw error;
  }
  if ('next' in response) {
    await giveUp();
    return response;
  }
  const costUsd = costOf(response.usage, option.prices);
  deps.metrics.modelCost(option.modelId, costUsd);
  const { messages, ...calls } = planToolCalls(response, run);
  const { prompt, briefing, skillRevisions } = ready;
  const warnings = warningsOf(response, run.tools, response.usage.estimated ? 0 : countOnce());
  const record = {
    ...attempt,
    prompt,
    briefing,
    skillRevisions,
    response,
    messages,
    costUsd,
    cutBy,
    warnings,
  };
  // A response that could not be recorded would be paid for a second time.
  const recorded = await persistently(
    () => recordResponse(deps.database, run, record, calls, () => deadline.remainingMs()),
    signal,
  );
  if (recorded.end === undefined) deps.runChanges.tell(run.id);
  else await afterEnd(deps, recorded.end);
  return recorded.outcome;
}

/**
 * Calls the model. Where its account cannot take the call now, the step waits; where it cannot take it at all, the run
 * ends; where the run or the step has ended meanwhile, nothing is asked and their outcome is returned.
 */
async function callModel(
  deps: ModelStepDeps,
  run: RunContext,
  index: number,
  call: ModelCall,
): Promise<ModelResponse | StepOutcome> {
  try {
    return await deps.caller.call(call);
  } catch (error) {
    if (error instanceof AccountBlocked) {
      return end(deps, run.id, failure(error.reason, error.detail));
    }
    if (error instanceof CallUnwanted) return readOutcome(deps.database, run.id, index);
    if (!(error instanceof AccountBusy)) throw error;
    await execute(deps.database, takeBackAttempt(run, index));
    const delayMs = Math.max(error.delayMs, delayAfter(run.stepAgeMs));
    return { next: 'wait', delayMs, remainingMs: run.remainingMs };
  }
}

/** Returns the account of the run's model; undefined for the gateway. */
function accountStepOf(
  { id, projectId, model, tools }: RunContext,
  index: number,
  deadline: Deadline,
): AccountStep | undefined {
  const { provider, connectionId } = model;
  if (connectionId === null) return undefined;
  const connection = { id: connectionId, projectId };
  return { provider, connection, runId: id, index, tools, remainingMs: deadline.remainingMs() };
}

/** Ends the run without a call of its model. */
async function end(deps: ModelStepDeps, runId: string, ending: RunEnding): Promise<StepOutcome> {
  await endRun(deps, runId, ending);
  return { next: 'ended', state: ending.state };
}
