import type { StartableDelivery } from '#core/engine/index.ts';
import { totalTokens } from '#core/usage/index.ts';
import type { ModelResponse } from './model-call.ts';
import {
  CLASS_OF_FAILURE,
  RUN_REASONS,
  type EndState,
  type FailureClass,
  type FailureReason,
  type RunReason,
} from './states.ts';

/** The way in which a run ends. */
export interface RunEnding {
  readonly state: EndState;
  readonly reason: RunReason | null;
  readonly errorMessage: string | null;
  readonly result: string | null;
  /** Whose fault a failed run is; null for every other end. */
  readonly failureClass: FailureClass | null;
}

/** The end of a run, recorded just now. */
export interface RecordedEnd {
  readonly runId: string;
  readonly ending: RunEnding;
  /** The webhook deliveries that tell of it, none unless the routine has a webhook. */
  readonly deliveries: readonly StartableDelivery[];
  /** Whether other runs wait to be admitted, now that this one has made room. */
  readonly othersWait: boolean;
}

/** Returns the ending of a run that failed, in the words of its reason unless `message` has more exact ones. */
export function failure(reason: FailureReason, message?: string): RunEnding {
  const errorMessage = message ?? inWords(reason);
  const failureClass = CLASS_OF_FAILURE[reason];
  return { state: 'failed', reason, errorMessage, result: null, failureClass };
}

/** Returns the ending of a run whose model step ended with a text. */
export function success(result: string | null): RunEnding {
  return { state: 'succeeded', reason: null, errorMessage: null, result, failureClass: null };
}

export const cancellation: RunEnding = {
  state: 'cancelled',
  reason: 'cancelled',
  errorMessage: null,
  result: null,
  failureClass: null,
};

/** The ending of a run that had not begun when the next occurrence took its place. */
export const replacement: RunEnding = { ...cancellation, reason: 'replaced' };

/** Returns the ending of a queued run that is skipped. */
export function skip(reason: RunReason): RunEnding {
  return {
    state: 'skipped',
    reason,
    errorMessage: inWords(reason),
    result: null,
    failureClass: null,
  };
}

function inWords(reason: RunReason): string {
  const sentence = RUN_REASONS[reason];
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`;
}

/** The steps and tokens of a run so far, and their limits. */
export interface RunProgress {
  readonly modelSteps: number;
  readonly maxSteps: number;
  readonly totalTokens: number;
  readonly maxTotalTokens: number | null;
  /** The limit that lowered the output of this step, if one did. */
  readonly cutBy: FailureReason | undefined;
}

/** Returns how this response ends the run, or undefined when the run goes on with the tools that it asks for. */
export function endingOf(response: ModelResponse, run: RunProgress): RunEnding | undefined {
  const result = response.text === '' ? null : response.text;
  if (response.finishReason === 'content-filter') return { ...failure('content_filtered'), result };
  if (response.toolCalls.length === 0) {
    if (response.finishReason === 'length') {
      return { ...failure(run.cutBy ?? 'output_truncated'), result };
    }
    if (result === null) return failure('model_empty');
    return success(result);
  }
  // Steps come one after the other, so nothing has been added since this one began.
  const tokens = run.totalTokens + totalTokens(response.usage);
  if (run.maxTotalTokens !== null && tokens >= run.maxTotalTokens) {
    return { ...failure('max_total_tokens'), result };
  }
  return run.modelSteps + 1 >= run.maxSteps ? { ...failure('max_steps'), result } : undefined;
}
