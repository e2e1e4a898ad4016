import { row, rows, sql, transaction, type Database, type Db } from '#lib/database/index.ts';
import type { RunContext } from './begin-step.ts';
import { endRun, failure, recordSuccess, type RunEnding } from './end-run.ts';
import type { ModelAnswer } from './model-call.ts';
import type { PerformedStep } from './model-step.ts';
import type { CallPlan } from './plan-tool-calls.ts';
import { recordModelStep, type ModelStepRecord } from './record-step.ts';
import type { RunState } from './states.ts';
import { totalTokens } from './usage.ts';

/**
 * Puts a model step on record with all that its answer comes to: the tool calls it asks for, or the end of the run.
 * All or nothing; where another attempt was faster, or the run ended meanwhile, what is on record holds.
 */
export async function finishStep(
  database: Database,
  run: RunContext,
  record: ModelStepRecord,
  calls: Pick<CallPlan, 'steps' | 'names'>,
): Promise<PerformedStep> {
  const { answer, index } = record;
  const ending = answer.toolCalls.length > 0 ? endingOfLimits(answer, run) : endingOf(answer);
  if (ending === undefined) {
    const recorded = await recordModelStep(database, record, calls.steps);
    if (!recorded) return recordedStep(database, run.id, index);
    return goOn(calls.names, index + 1 + calls.steps.length);
  }
  if (ending.state === 'succeeded' && !run.hasWebhook) {
    if (await recordSuccess(database, record, { ...ending, state: ending.state })) {
      return endedStep(ending, { ended: true, delivery: undefined });
    }
  }
  return transaction(database, async (tx) => {
    const recorded = await recordModelStep(tx, record, []);
    if (!recorded) return recordedStep(tx, run.id, index);
    return endedStep(ending, await endRun(tx, run.id, ending));
  });
}

/** What a step that is on record already came to. */
export async function recordedStep(db: Db, runId: string, index: number): Promise<PerformedStep> {
  const found = await row<{ state: RunState }>(db, sql`select state from runs where id = ${runId}`);
  const state = found?.state ?? 'failed';
  if (state !== 'running' && state !== 'queued') {
    return { outcome: { next: 'ended', state }, delivery: undefined };
  }
  const calls = await rows<{ name: string; rejected: boolean }>(
    db,
    sql`
      select tool->>'name' as name, (tool->>'rejected')::boolean as rejected from steps
      where run_id = ${runId} and index > ${index} and kind = 'tool' and index < coalesce(
        (select min(index) from steps where run_id = ${runId} and index > ${index} and kind = 'model'), 2147483647)
      order by index
    `,
  );
  const names = calls.filter(({ rejected }) => !rejected).map(({ name }) => name);
  return goOn(names, index + 1 + calls.length);
}

/** What a step that ends its run comes to; `ended` is false where the run had ended before. */
export function endedStep(
  ending: RunEnding,
  { ended, delivery }: Awaited<ReturnType<typeof endRun>>,
): PerformedStep {
  return {
    outcome: { next: 'ended', state: ending.state },
    delivery,
    ...(ended ? { ended: ending } : {}),
  };
}

function goOn(toolCalls: readonly string[], nextIndex: number): PerformedStep {
  return { outcome: { next: 'continue', toolCalls, nextIndex }, delivery: undefined };
}

/** How a run ends with an answer that asks for no tools. */
function endingOf(answer: ModelAnswer): RunEnding {
  const result = resultOf(answer);
  if (answer.finishReason === 'content-filter') return { ...failure('content_filtered'), result };
  if (answer.finishReason === 'length') return { ...failure('output_truncated'), result };
  if (result === null) return failure('model_empty');
  return { state: 'succeeded', reason: null, errorMessage: null, result };
}

/** How a run ends whose model asks for tools, or undefined when its limits allow it to go on. */
function endingOfLimits(answer: ModelAnswer, run: RunContext): RunEnding | undefined {
  const result = resultOf(answer);
  if (answer.finishReason === 'content-filter') return { ...failure('content_filtered'), result };
  // Steps come one after the other, so nothing has been added since this one began.
  const tokens = run.totalTokens + totalTokens(answer.usage);
  if (run.maxTotalTokens !== null && tokens >= run.maxTotalTokens) {
    return { ...failure('max_total_tokens'), result };
  }
  return run.modelSteps + 1 >= run.maxSteps ? { ...failure('max_steps'), result } : undefined;
}

function resultOf(answer: ModelAnswer): string | null {
  return answer.text === '' ? null : answer.text;
}
