import { row, sql, transaction, type Database, type Db } from '#lib/database/index.ts';
import { abnormalEnding } from './abnormal-cost.ts';
import { isAwaited } from './awaited-step.ts';
import type { RunContext } from './begin-step.ts';
import { recordEnd, type RecordedEnd } from '#core/runs/index.ts';
import { keepSeen } from '#core/gate/index.ts';
import { endingOf } from './ending-of.ts';
import { ModelFailure } from './model-failure.ts';
import { asksForCalls, findPatterns, REMINDER } from '#core/outcomes/index.ts';
import { decideEnding } from './decide-ending.ts';
import type { ModelMessage } from 'ai';
import type { ModelResponse } from './model-call.ts';
import type { CallPlan } from './plan-tool-calls.ts';
import {
  recordModelStep,
  recordStepAndSuccess,
  settleLateResponse,
  type ModelStepRecord,
} from './record-step.ts';
import { judgeEnding } from './judge-ending.ts';
import { recordStepWithNews, tellSpending } from './spending-news.ts';
import { readOutcome, type StepOutcome } from './step-outcome.ts';
import { CALL_REQUEST, wasAskedToCall } from './warnings.ts';

export interface RecordedResponse {
  readonly outcome: StepOutcome;
  /** The end of the run, when this step ended it. */
  readonly end: RecordedEnd | undefined;
}

/**
 * Records a model step with everything that the response leads to: the tool calls it asks for, the request for a better
 * result, or the end of the run. If another attempt was faster or the run has ended meanwhile, it adds only the usage
 * to what is recorded.
 */
export async function recordResponse(
  database: Database,
  run: RunContext,
  record: ModelStepRecord,
  calls: Pick<CallPlan, 'steps' | 'names'>,
  timeLeft: () => number,
): Promise<RecordedResponse> {
  const { index, response } = record;
  const asksToCall = record.warnings.includes('call_as_text') && !wasAskedToCall(run.transcript);
  const progress = { ...run, cutBy: record.cutBy, asksToCall };
  const judged = await judgeEnding(progress, response, endingOf(response, progress));
  const ending = judged.ending ?? (await abnormalEnding(database, run, record));
  if (ending === undefined) {
    const messages = [
      ...record.messages,
      ...(judged.messages ?? requestAfter(response, asksToCall)),
    ];
    const recorded = await recordStepWithNews(database, run, { ...record, messages }, calls.steps);
    if (!recorded) return transaction(database, (tx) => recordLate(tx, run, record));
    const nextIndex = index + 1 + calls.steps.length;
    const remainingMs = timeLeft();
    return {
      outcome: { next: 'continue', toolCalls: calls.names, nextIndex, remainingMs },
      end: undefined,
    };
  }
  const patterns =
    ending.state === 'succeeded' ? await findPatterns(run, ending.result ?? '') : NONE;
  const isPlain = run.gate === null && ending.data === undefined && !asksForCalls(run.checks);
  if (ending.state === 'succeeded' && !run.hasAudience && isPlain) {
    const decided = await decideEnding(database, run, ending, patterns);
    const recorded =
      decided.state === 'succeeded'
        ? await recordStepAndSuccess(database, record, decided)
        : undefined;
    if (recorded !== undefined) {
      const end = { runId: run.id, ending: decided, deliveries: [], ...recorded };
      return { outcome: { next: 'ended', state: decided.state }, end };
    }
  }
  return transaction(database, async (tx) => {
    const recorded = await recordModelStep(tx, record, []);
    if (!recorded) return recordLate(tx, run, record);
    const decided = await decideEnding(tx, run, ending, patterns);
    const end = await recordEnd(tx, run.id, decided);
    if (run.gate !== null && end?.ending.state === 'succeeded') await keepSeen(tx, run.id);
    return { outcome: { next: 'ended', state: decided.state }, end };
  });
}

const NONE: ReadonlyMap<number, boolean> = new Map();

/**
 * Returns the request to a model whose run goes on although it asks for no tools: it has written a call as text, or has
 * not stated its outcome.
 */
function requestAfter({ toolCalls }: ModelResponse, asksToCall: boolean): readonly ModelMessage[] {
  if (toolCalls.length > 0) return [];
  return [asksToCall ? CALL_REQUEST : REMINDER];
}

/** Settles a late response. @throws {ModelFailure} when the call is no longer valid, so that nothing was recorded */
async function recordLate(
  tx: Db,
  run: RunContext,
  record: ModelStepRecord,
): Promise<RecordedResponse> {
  if (await isUnrecorded(tx, record)) {
    const message = 'The lease under which the model was called is over.';
    throw new ModelFailure('model_unreachable', message, { retryable: true });
  }
  await settleLateResponse(tx, record);
  await tellSpending(tx, run);
  return { outcome: await readOutcome(tx, record.runId, record.index), end: undefined };
}

/** Returns true when the step of this call on an account still awaits its response. */
async function isUnrecorded(db: Db, record: ModelStepRecord): Promise<boolean> {
  if (record.response.call === undefined) return false;
  const found = await row<{ awaited: boolean }>(db, sql`select ${isAwaited(record)} as awaited`);
  return found?.awaited === true;
}
