import { keepSeen } from '#core/execution/gate/index.ts';
import { asksForCalls } from '#core/authoring/outcomes/index.ts';
import { afterEnd, recordEnd, type AfterEndDeps, type RecordedEnd } from '#core/execution/runs/index.ts';
import { persistently, transaction, type Database, type Db } from '#lib/database/index.ts';
import type { Deadline } from '#lib/deadline.ts';
import { isAwaited, type StepRun } from './begin-step.ts';
import { endingByChecks, type Judgement } from './judge.ts';
import type { ModelResponse } from './model-call.ts';
import type { PreparedStep } from './prepare.ts';
import {
  recordModelStep,
  recordStepAndSuccess,
  recordStepWithNews,
  settleLateResponse,
  tellSpending,
  type ModelStepRecord,
} from './record-step.ts';
import { ModelFailure, Stop, type StepOutcome } from './stop.ts';

/**
 * Records a model step with everything that its response leads to: the tool calls it asks for, the request for a better
 * result, or the end of the run, and does what follows from it. Where another attempt was faster or the run has ended
 * meanwhile, only the usage is added to what is on record.
 * @throws {Stop} in that case, {ModelFailure} when the call is no longer valid, so that nothing was recorded
 */
export async function recordStep(
  deps: AfterEndDeps,
  run: StepRun,
  step: PreparedStep,
  { response, judgement, deadline }: { response: ModelResponse; judgement: Judgement; deadline: Deadline },
): Promise<StepOutcome> {
  const { runId, index, attempt } = run;
  const { prompt, briefing, skillRevisions, factsVersion } = step;
  const { messages, costUsd, warnings } = judgement;
  deps.metrics.modelCost(step.option.modelId, costUsd);
  const text = { prompt, briefing, skillRevisions, factsVersion };
  const record: ModelStepRecord = { runId, index, attempt, ...text, response, messages, costUsd, warnings };
  // A response that could not be recorded would be paid for a second time.
  const recorded = await persistently(() => recordJudgement(deps.database, run, record, judgement), deadline.signal);
  if (recorded === undefined) throw Stop.overtaken();
  if (recorded === 'goes_on') {
    const { steps, names } = judgement.calls;
    const nextIndex = index + 1 + steps.length;
    return { next: 'continue', toolCalls: names, nextIndex, remainingMs: deadline.remainingMs() };
  }
  await afterEnd(deps, recorded);
  return { next: 'ended', state: recorded.ending.state };
}

/** @returns undefined where the step or the end of the run had been recorded; the usage alone was added then */
async function recordJudgement(
  database: Database,
  run: StepRun,
  record: ModelStepRecord,
  { ending, patterns, calls }: Judgement,
): Promise<RecordedEnd | 'goes_on' | undefined> {
  if (ending === undefined) {
    const recorded = await recordStepWithNews(database, run, record, calls.steps);
    if (recorded) return 'goes_on';
    await transaction(database, (tx) => recordLate(tx, run, record));
    return undefined;
  }
  const isPlain =
    run.gate === null && ending.data === undefined && ending.next === undefined && !asksForCalls(run.checks);
  if (ending.state === 'succeeded' && !run.hasAudience && isPlain) {
    const decided = await endingByChecks(database, run, ending, patterns);
    const isWhole = decided.state === 'succeeded' && decided.warnings === undefined;
    const recorded = isWhole ? await recordStepAndSuccess(database, record, decided) : undefined;
    if (recorded !== undefined) return { runId: run.runId, ending: decided, deliveries: [], skipped: [], ...recorded };
  }
  return transaction(database, async (tx) => {
    if (!(await recordModelStep(tx, record, []))) {
      await recordLate(tx, run, record);
      return undefined;
    }
    const decided = await endingByChecks(tx, run, ending, patterns);
    const end = await recordEnd(tx, run.runId, decided);
    // A run that lacked its tools has not worked on what its gate saw.
    const isSeen = end?.ending.state === 'succeeded' && decided.warnings === undefined;
    if (run.gate !== null && isSeen) await keepSeen(tx, run.runId);
    return end;
  });
}

/** Settles a late response. @throws {ModelFailure} when the call is no longer valid, so that nothing was recorded */
async function recordLate(tx: Db, run: StepRun, record: ModelStepRecord): Promise<void> {
  if (await isUnrecorded(tx, record)) {
    const message = 'The lease under which the model was called is over.';
    throw new ModelFailure('model_unreachable', message, { retryable: true });
  }
  await settleLateResponse(tx, record);
  await tellSpending(tx, run);
}

/** Returns true when the step of this call on an account still awaits its response. */
async function isUnrecorded(db: Db, record: ModelStepRecord): Promise<boolean> {
  if (record.response.call === undefined) return false;
  const found = await db.row<{ awaited: boolean }>`select ${isAwaited(record)} as awaited`;
  return found?.awaited === true;
}
