import type { ModelMessage } from 'ai';
import type { OutcomeRule } from '#core/routines/index.ts';
import { FINISH, type OfferedTool } from '#core/tools/index.ts';
import { totalTokens } from '#core/usage/index.ts';
import { cut } from '#lib/text.ts';
import { failure, success, type RunEnding, type FailureReason } from '#core/runs/index.ts';
import type { ModelResponse } from './model-call.ts';
import { readFinish, type Finish, textBeforeReminder, wasReminded } from '#core/outcomes/index.ts';
import { runLimitInWords } from './refused-step.ts';

/** The steps and tokens of a run so far, and their limits. */
export interface RunProgress {
  readonly modelSteps: number;
  readonly maxSteps: number;
  readonly totalTokens: number;
  readonly maxTotalTokens: number | null;
  /** The limit that lowered the output of this step, if one did. */
  readonly cutBy: FailureReason | undefined;
  readonly outcomeRule: OutcomeRule;
  readonly tools: readonly Pick<OfferedTool, 'name'>[];
  /** True when the response wrote a call as text and the model was not told of that before. */
  readonly asksToCall: boolean;
  /** The messages of the steps before this one. */
  readonly transcript: readonly ModelMessage[];
}

/**
 * Returns how this response ends the run; undefined when the run goes on, with the tools that the response asks for or
 * with a reminder to state its outcome.
 */
export function endingOf(response: ModelResponse, run: RunProgress): RunEnding | undefined {
  const result = response.text === '' ? null : response.text;
  if (response.finishReason === 'content-filter') return { ...failure('content_filtered'), result };
  const required = run.outcomeRule === 'required';
  // The last call was cut with the output, and was not meant as it stands.
  if (response.finishReason === 'length' && response.toolCalls.at(-1)?.invalid === true) {
    return { ...failure(run.cutBy ?? 'output_truncated'), result };
  }
  const finish = finishIn(response, run);
  if (finish.kind === 'stated') return statedEnding(finish, response, run);
  if (response.toolCalls.length === 0) {
    if (response.finishReason === 'length') {
      return { ...failure(run.cutBy ?? 'output_truncated'), result };
    }
    if (required && wasReminded(run.transcript)) {
      return {
        ...failure('outcome_missing'),
        result: result ?? textBeforeReminder(run.transcript),
      };
    }
    if (result === null) return failure('model_empty');
    if (run.asksToCall && limitReached(response, run) === undefined) return undefined;
    if (!required) return success(result);
  }
  const limit = limitReached(response, run);
  if (limit === undefined) return undefined;
  const words = limit === 'max_total_tokens' ? runLimitInWords(run) : undefined;
  return { ...failure(limit, words), result };
}

/** Returns the limit because of which no step can follow; undefined when one can. */
export function limitReached(response: ModelResponse, run: RunProgress): FailureReason | undefined {
  // Steps come one after the other, so nothing has been added since this one began.
  const tokens = run.totalTokens + totalTokens(response.usage);
  if (run.maxTotalTokens !== null && tokens >= run.maxTotalTokens) {
    return 'max_total_tokens';
  }
  return run.modelSteps + 1 >= run.maxSteps ? 'max_steps' : undefined;
}

/** Reads the call of `finish` in a response; a run that is not offered it has none. */
export function finishIn(
  { toolCalls }: Pick<ModelResponse, 'toolCalls'>,
  { tools, outcomeRule }: Pick<RunProgress, 'tools' | 'outcomeRule'>,
): Finish {
  const isOffered = tools.some(({ name }) => name === FINISH);
  return isOffered ? readFinish(toolCalls, outcomeRule) : { kind: 'absent' };
}

/** Length at which a summary is cut. */
const SUMMARY_LENGTH = 500;

/**
 * Returns the ending of a run whose model called `finish`. The result is the one in the call, else the text beside it,
 * else the one before the reminder, else the summary.
 */
function statedEnding(
  { outcome, summary, result: called }: Extract<Finish, { kind: 'stated' }>,
  { text }: ModelResponse,
  { transcript }: RunProgress,
): RunEnding {
  const result =
    called ?? (text.trim() === '' ? (textBeforeReminder(transcript) ?? summary) : text);
  if (outcome === undefined) return success(result);
  const outcomeSummary = cut(summary, SUMMARY_LENGTH);
  if (outcome === 'could_not') return { ...failure('could_not'), result, outcomeSummary };
  return { ...success(result), outcome, outcomeSummary };
}
