import { cancellation, failure, type RunEnding } from '#core/run-states/index.ts';
import { endRun, type AfterEndDeps } from '#core/runs/index.ts';
import { persistently, type Database } from '#lib/database/index.ts';
import { startDeadline, type Deadline } from '#lib/deadline.ts';
import { askModel, type AskModelDeps } from './ask.ts';
import { beginStep, type RunContext } from './begin-step.ts';
import { decideStep } from './decide.ts';
import type { GateDeps } from './pass-gate.ts';
import { type PreflightDeps, prepareStep } from './prepare.ts';
import { recordStep } from './record-response.ts';
import { reserveStep, type ReserveDeps } from './reserve.ts';
import { endUnwanted, readOutcome, type StepOutcome } from './step-outcome.ts';
import { Stop, type Consequence } from './stop.ts';

export interface ModelStepDeps
  extends PreflightDeps, GateDeps, AfterEndDeps, ReserveDeps, AskModelDeps {
  readonly database: Database;
  /** The build of this process; undefined unless builds are kept apart. */
  readonly buildId: string | undefined;
}

/**
 * Performs one model step of a run: it begins, prepares the call, reserves its cost, asks the model, and records the
 * response with everything that follows from it. A run that needs no tools is one such step.
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
  const deadline = startDeadline(run.remainingMs, signal);
  try {
    return await performInTime(deps, run, index, deadline);
  } catch (error) {
    if (error instanceof Stop) return follow(deps, input, error.consequence, deadline);
    if (!deadline.isOver()) throw error;
    return follow(deps, input, { kind: 'ends', ending: timeOver(run) }, deadline);
  } finally {
    deadline.clear();
  }
}

/** @throws {Stop} @throws {ModelFailure} also another error, when the deadline is over */
async function performInTime(
  deps: ModelStepDeps,
  run: RunContext,
  index: number,
  deadline: Deadline,
): Promise<StepOutcome> {
  if (run.cancelRequested) throw Stop.ends(cancellation);
  if (run.remainingMs <= 0) throw Stop.ends(timeOver(run));
  const step = await prepareStep(deps, run, index, deadline);
  const grant = await reserveStep(deps, run, step);
  const response = await askModel(deps, run, step, { grant, deadline });
  const decision = await decideStep(deps, run, step, { grant, response });
  return recordStep(deps, run, step, { response, decision, deadline });
}

/**
 * Returns the ending of a run whose time is over; one that its provider's failures delayed has not been too slow
 * itself.
 */
function timeOver({ providerFailures }: RunContext): RunEnding {
  return failure(providerFailures > 0 ? 'model_unreachable' : 'timeout');
}

/** Carries out what stopped a step, and returns the step's outcome. */
async function follow(
  deps: ModelStepDeps,
  { runId, index }: { readonly runId: string; readonly index: number },
  stopped: Consequence,
  deadline: Deadline,
): Promise<StepOutcome> {
  switch (stopped.kind) {
    case 'ends':
      await endRun(deps, runId, stopped.ending);
      return { next: 'ended', state: stopped.ending.state };
    case 'waits':
      return { next: 'wait', delayMs: stopped.delayMs, remainingMs: deadline.remainingMs() };
    case 'overtaken':
      return readOutcome(deps.database, runId, index);
  }
}
