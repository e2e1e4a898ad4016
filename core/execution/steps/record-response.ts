import { followEnd, recordEnd, type EndDeps } from '#core/execution/runs/index.ts';
import type { RunEnding } from '#core/execution/run-states/index.ts';
import { persistently, transaction, type Db } from '#lib/database/index.ts';
import type { Deadline } from '#lib/deadline.ts';
import { isAwaited, type StepRun } from './begin-step.ts';
import { endingByChecks, type JudgedResponse } from './judge.ts';
import type { ModelResponse } from './model-call.ts';
import type { PreparedStep } from './prepare.ts';
import { recordModelStep, recordStepAndSuccess, settleLateResponse, type ModelStepRecord } from './record-step.ts';
import { ModelFailure, Stop, type StepOutcome } from './stop.ts';

/**
 * Records a model step with its consequences: the tool calls it asks for, the request for a better result, or the end
 * of the run. If another attempt was faster or the run has ended meanwhile, only the usage is added.
 * @throws {Stop} in that case, {ModelFailure} when the call is no longer valid, so that nothing was recorded
 */
export async function recordStep(
  deps: EndDeps,
  run: StepRun,
  step: PreparedStep,
  { response, judged, deadline }: { response: ModelResponse; judged: JudgedResponse; deadline: Deadline },
): Promise<StepOutcome> {
  const { runId, index, attempt } = run;
  const { prompt, briefing, skillRevisions, factsVersion } = step;
  const { messages, costUsd, warnings } = judged;
  deps.metrics.modelCost(step.option.modelId, costUsd);
  const text = { prompt, briefing, skillRevisions, factsVersion };
  const record: ModelStepRecord = { runId, index, attempt, ...text, response, messages, costUsd, warnings };
  // A response that cannot be recorded would have to be paid for again.
  const recorded = await persistently(() => recordJudged(deps, run, record, judged), deadline.signal);
  if (recorded === undefined) throw Stop.overtaken();
  if (recorded === 'goes_on') {
    const { steps, names } = judged.calls;
    const nextIndex = index + 1 + steps.length;
    return { next: 'continue', toolCalls: names, nextIndex, remainingMs: deadline.remainingMs() };
  }
  return { next: 'ended', state: recorded };
}

/**
 * @returns the state of the run when it has ended; undefined when the step or the end of the run was recorded before,
 * and only the usage was added
 */
async function recordJudged(
  deps: EndDeps,
  run: StepRun,
  record: ModelStepRecord,
  { ending, patterns, calls }: JudgedResponse,
): Promise<RunEnding['state'] | 'goes_on' | undefined> {
  const { database } = deps;
  if (ending === undefined) {
    const recorded = await recordModelStep(database, record, { calls: calls.steps, spends: run.budgets });
    if (recorded?.isFollowed === true) deps.work.nudge('spending');
    if (recorded !== undefined) return 'goes_on';
    await transaction(database, (tx) => recordLate(tx, run, record));
    return undefined;
  }
  const decided = await endingByChecks(database, run, ending, patterns);
  const hasSucceeded = decided.state === 'succeeded';
  // A rehearsal, and a run without its tools, have not acted on the value of the gate.
  const keepsSeen = run.gate !== null && run.trigger !== 'rehearsal' && decided.warnings === undefined;
  const isAlone = hasSucceeded && !run.hasWebhook && decided.data === undefined && decided.next?.final !== true;
  if (isAlone) {
    const ended = await recordStepAndSuccess(database, record, decided, { keepsSeen, isAlone });
    if (ended !== undefined) {
      await followEnd(deps, database, ended, decided);
      return ended.state;
    }
  }
  return transaction(database, async (tx) => {
    if (hasSucceeded) {
      const ended = await recordStepAndSuccess(tx, record, decided, { keepsSeen, isAlone: false });
      if (ended !== undefined) await followEnd(deps, tx, ended, decided);
      else await recordLate(tx, run, record);
      return ended?.state;
    }
    if ((await recordModelStep(tx, record, { calls: [] })) !== undefined) {
      return (await recordEnd(deps, tx, run.runId, decided))?.state;
    }
    await recordLate(tx, run, record);
    return undefined;
  });
}

async function recordLate(tx: Db, run: StepRun, record: ModelStepRecord): Promise<void> {
  if (await isUnrecorded(tx, record)) {
    const message = 'The lease under which the model was called has ended.';
    throw new ModelFailure('model_unreachable', message, { retryable: true });
  }
  await settleLateResponse(tx, record, run.budgets);
}

async function isUnrecorded(db: Db, record: ModelStepRecord): Promise<boolean> {
  if (record.response.call === undefined) return false;
  const found = await db.row<{ awaited: boolean }>`select ${isAwaited(record)} as awaited`;
  return found?.awaited === true;
}
