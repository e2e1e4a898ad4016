import type { StartableDelivery } from '#core/engine/index.ts';
import { totalTokens, type PassedLimit } from '#core/usage/index.ts';
import type { ModelMessage } from 'ai';
import { runLimitInWords } from './refused-step.ts';
import type { ResultKey } from '#core/results/index.ts';
import type { ModelResponse } from './model-call.ts';
import type { OutcomeRule } from '#core/routines/index.ts';
import { FINISH, type OfferedTool } from '#core/tools/index.ts';
import { readFinish, type Finish } from './outcome/finish.ts';
import type { CheckResult, Outcome } from './outcome/outcome.ts';
import { textBeforeReminder, wasReminded } from './outcome/reminder.ts';
import { cut } from './tool-record.ts';
import {
  CLASS_OF_FAILURE,
  RUN_REASONS,
  type EndState,
  type FailureClass,
  type FailureReason,
  type RunReason,
} from './states.ts';

/** The way in which a run ends: its state, its reason and its result. */
export interface RunEnding {
  readonly state: EndState;
  readonly reason: RunReason | null;
  readonly errorMessage: string | null;
  readonly result: string | null;
  /** Class of the failure: whose fault it is; null for every other end. */
  readonly failureClass: FailureClass | null;
  /** Outcome of a run that succeeded; `done` where it is left out. */
  readonly outcome?: Outcome;
  readonly outcomeSummary?: string | null | undefined;
  /** Undefined where nothing was checked. */
  readonly checks?: readonly CheckResult[];
  /** The budget that left too little for the next step, where one did and it is known which. */
  readonly passedLimit?: PassedLimit | undefined;
  /** Data of the result in the form that the routine asks for; undefined where it asks for none. */
  readonly data?: ResultData;
}

export interface ResultData {
  readonly value: unknown;
  /** Key by which the items of its list are told apart; null where there is none. */
  readonly by: ResultKey | null;
}

/** The end of a run that has just been recorded. */
export interface RecordedEnd {
  readonly runId: string;
  readonly ending: RunEnding;
  /** Webhook deliveries that report it; none unless the routine has a webhook. */
  readonly deliveries: readonly StartableDelivery[];
  /** True when other runs wait to be admitted, now that this one has made room. */
  readonly othersWait: boolean;
  /** True when somebody followed the run as it ended. */
  readonly followed: boolean;
}

/** Returns the ending of a failed run, in the words of its reason unless `message` is more exact. */
export function failure(reason: FailureReason, message?: string): RunEnding {
  const errorMessage = message ?? reasonAsMessage(reason);
  const failureClass = CLASS_OF_FAILURE[reason];
  return { state: 'failed', reason, errorMessage, result: null, failureClass };
}

/** Returns the ending of a run whose model step ended with a text. */
export function success(result: string | null): RunEnding {
  return { state: 'succeeded', reason: null, errorMessage: null, result, failureClass: null };
}

export const cancellation = cancelled('cancelled');

/** The ending of an open run that the next occurrence replaces. */
export const replacement = cancelled('replaced');

function cancelled(reason: 'cancelled' | 'replaced'): RunEnding {
  return {
    state: 'cancelled',
    reason,
    errorMessage: reasonAsMessage(reason),
    result: null,
    failureClass: null,
  };
}

/** Returns the ending of a queued run that is skipped. */
export function skip(reason: RunReason): RunEnding {
  return {
    state: 'skipped',
    reason,
    errorMessage: reasonAsMessage(reason),
    result: null,
    failureClass: null,
  };
}

/** Returns the error message of a run that ended for a reason about which nothing more exact is known. */
export function reasonAsMessage(reason: RunReason): string {
  const words = reasonInWords(reason);
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

/** Returns the sentence of the closed list for a reason. */
export function reasonInWords(reason: RunReason): string {
  return RUN_REASONS[reason];
}

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
