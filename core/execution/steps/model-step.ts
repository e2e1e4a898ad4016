import {
  cancellation,
  failure,
  isEndState,
  skip,
  type RunEnding,
  type RunReason,
  type RunState,
} from '#core/execution/run-states/index.ts';
import { endRun, runClock, unwantedReason, type EndDeps } from '#core/execution/runs/index.ts';
import { releaseAttempt } from '#core/usage/index.ts';
import { persistently, sql, type Db } from '#lib/database/index.ts';
import { startDeadline, type Deadline } from '#lib/deadline.ts';
import { beginStep, type StepRun } from './begin-step.ts';
import { judgeResponse } from './judge.ts';
import type { ModelResponse, StepsCore } from './model-call.ts';
import { prepareStep, type PreparedStep } from './prepare.ts';
import { recordStep } from './record-step.ts';
import { reserveStep, type GrantedOutput } from './reserve.ts';
import { delayAfter, ModelFailure, Stop, takeBackAttempt, type Consequence, type StepOutcome } from './stop.ts';
import { settleCutCall, tellAccountEmpty } from './unanswered-calls.ts';

/**
 * Performs one model step of a run: begins the step, prepares the call, reserves its cost, asks the model, and records
 * the response with all consequences. A run that needs no tools is one such step.
 * @throws {ModelFailure} when the call failed
 */
export async function performModelStep(
  deps: StepsCore,
  input: { runId: string; index: number },
  signal: AbortSignal,
): Promise<StepOutcome> {
  const { runId, index } = input;
  const run = await persistently(() => beginStep(deps.database, runId, index, deps.buildId), signal);
  if (run === undefined) return (await endUnwanted(deps, runId)) ?? readOutcome(deps.database, runId, index);
  const deadline = startDeadline(run.remainingMs, signal);
  try {
    if (run.cancelRequested) throw Stop.ends(cancellation);
    if (run.remainingMs <= 0) throw Stop.ends(timeOver(run));
    const step = await prepareStep(deps, run, deadline);
    const granted = await reserveStep(deps, run, step);
    const response = await askModel(deps, run, step, { granted, deadline });
    const judged = await judgeResponse(deps, run, step, { granted, response });
    return await recordStep(deps, run, step, { response, judged, deadline });
  } catch (error) {
    if (error instanceof Stop) return carryOut(deps, input, error.consequence, deadline);
    if (!deadline.isOver()) throw error;
    return carryOut(deps, input, { kind: 'ends', ending: timeOver(run) }, deadline);
  } finally {
    deadline.clear();
  }
}

/**
 * Asks the model. The reservation of a call without a response is settled if the call may be billed, else released.
 * @throws {Stop} if the account cannot take the call, now or at all, or its response would not be used
 * @throws {ModelFailure} if the call failed
 */
async function askModel(
  deps: StepsCore,
  run: StepRun,
  step: PreparedStep,
  { granted, deadline }: { readonly granted: GrantedOutput; readonly deadline: Deadline },
): Promise<ModelResponse> {
  const { call } = step;
  let isSent = false;
  const onSend = () => void (isSent = true);
  const { onStream, end } = deps.liveTexts.open(run);
  try {
    const { maxOutputTokens, isHeld } = granted;
    const limitMayGo = !isHeld && run.maxOutputTokens === null;
    return await deps.caller.call({ ...call, maxOutputTokens, limitMayGo, onSend, onStream });
  } catch (error) {
    if (error instanceof ModelFailure && error.reason === 'model_account_empty') await tellAccountEmpty(deps, call);
    const mayBeBilled = isSent && !(error instanceof Stop);
    const isSettled = mayBeBilled && (await settleCutCall(deps, run, step, { error, isOver: deadline.isOver() }));
    if (!isSettled && granted.isHeld) {
      // If this fails, the lease of the reservation runs out.
      await releaseAttempt(deps.database, run).catch(() => undefined);
    }
    if (!(error instanceof Stop) || error.consequence.kind !== 'waits') throw error;
    await deps.database.run`${takeBackAttempt(run)}`;
    throw Stop.waits(Math.max(error.consequence.delayMs, delayAfter(run.stepAgeMs)));
  } finally {
    end();
  }
}

/**
 * Returns the ending of a run whose time is over. If failures of the provider delayed the run, the reason is the
 * provider.
 */
function timeOver({ providerFailures }: StepRun): RunEnding {
  return failure(providerFailures > 0 ? 'model_unreachable' : 'timeout');
}

/** Carries out a stop: waits, skips or ends the run. Returns the step's outcome. */
async function carryOut(
  deps: StepsCore,
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

/** Skips a run whose routine was paused, changed or archived; undefined when the run is wanted, or has begun. */
async function endUnwanted(deps: EndDeps, runId: string): Promise<StepOutcome | undefined> {
  const found = await deps.database.row<{ reason: RunReason | null }>`
    select ${unwantedReason} as reason from runs join routines r on r.id = runs.routine_id
    where runs.id = ${runId}
  `;
  if (found === undefined || found.reason === null) return undefined;
  await endRun(deps, runId, skip(found.reason));
  return { next: 'ended', state: 'skipped' };
}

/** Reads the outcome of a model step that is recorded, or whose run has ended. */
async function readOutcome(db: Db, runId: string, index: number): Promise<StepOutcome> {
  const found = await db.row<{ state: RunState; remainingMs: number | null }>`
    select state, ${runClock.remainingMs(sql`runs`)} as "remainingMs" from runs where id = ${runId}
  `;
  const state = found?.state ?? 'failed';
  if (isEndState(state)) return { next: 'ended', state };
  const calls = await db.rows<{ name: string; rejected: boolean }>`
    select tool->>'name' as name, (tool->>'rejected')::boolean as rejected from steps
    where run_id = ${runId} and index > ${index} and kind = 'tool' and index < coalesce(
      (select min(index) from steps where run_id = ${runId} and index > ${index} and kind = 'model'), 2147483647)
    order by index
  `;
  const toolCalls = calls.filter(({ rejected }) => !rejected).map(({ name }) => name);
  const remainingMs = found?.remainingMs ?? 0;
  return { next: 'continue', toolCalls, nextIndex: index + 1 + calls.length, remainingMs };
}
