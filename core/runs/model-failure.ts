import { APICallError, NoSuchToolError } from 'ai';
import type { RunReason } from './states.ts';

/** How often a provider is asked for one step: with the pauses between, about half a minute of outage is bridged. */
export const MAX_MODEL_ATTEMPTS = 5;

/** A model call that gave no usable answer; `message` is fit for the run's detail: no body, no header, no key. */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure';
  readonly reason: Extract<RunReason, `model_${string}`>;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** The provider's own wish, from `Retry-After`. */
  readonly retryAfterMs: number | undefined;

  constructor(
    reason: ModelFailure['reason'],
    message: string,
    options: { retryable: boolean; retryAfterMs?: number | undefined },
  ) {
    super(message);
    this.reason = reason;
    this.retryable = options.retryable;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Reads any error of the model library as a failure with a closed reason. */
export function toModelFailure(error: unknown): ModelFailure {
  const ours = causes(error).find((cause) => cause instanceof ModelFailure);
  if (ours !== undefined) return ours;
  if (APICallError.isInstance(error)) return fromAnswer(error);
  if (NoSuchToolError.isInstance(error)) {
    return new ModelFailure('model_malformed', 'The model asked for a tool that does not exist.', {
      retryable: true,
    });
  }
  const name = error instanceof Error ? error.name : '';
  if (/Timeout/.test(name)) {
    return new ModelFailure('model_unreachable', 'The model provider did not answer in time.', {
      retryable: true,
    });
  }
  if (/JSONParse|TypeValidation|InvalidResponse|NoContent|EmptyResponse|NoOutput/.test(name)) {
    return new ModelFailure(
      'model_malformed',
      'The model provider answered something unreadable.',
      {
        retryable: true,
      },
    );
  }
  return new ModelFailure('model_unreachable', 'The model provider broke off the call.', {
    retryable: true,
  });
}

/** The library wraps what our own fetch throws in errors of its own. */
function causes(error: unknown): Error[] {
  const found: Error[] = [];
  for (let cause = error; cause instanceof Error && found.length < 10; cause = cause.cause) {
    found.push(cause);
  }
  return found;
}

function fromAnswer(error: APICallError): ModelFailure {
  const status = error.statusCode;
  if (status === undefined) {
    return new ModelFailure('model_unreachable', 'The model provider could not be reached.', {
      retryable: true,
    });
  }
  const retryAfterMs = readRetryAfter(error.responseHeaders?.['retry-after']);
  if (status === 429) {
    return new ModelFailure('model_rate_limited', 'The model provider answered 429.', {
      retryable: true,
      retryAfterMs,
    });
  }
  if (status >= 200 && status < 300) {
    return new ModelFailure(
      'model_malformed',
      'The model provider answered something unreadable.',
      {
        retryable: true,
      },
    );
  }
  // 408, 409 and 5xx pass; any other 4xx says that this very request is wrong.
  const retryable = status >= 500 || status === 408 || status === 409;
  return new ModelFailure('model_error', `The model provider answered ${status}.`, {
    retryable,
    retryAfterMs,
  });
}

const MAX_RETRY_AFTER_MS = 5 * 60_000;

/** `Retry-After` in seconds or as a date (RFC 9110, section 10.2.3), at most five minutes. */
export function readRetryAfter(header: string | undefined, now = Date.now()): number | undefined {
  if (header === undefined) return undefined;
  const seconds = /^\d+$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - now;
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), MAX_RETRY_AFTER_MS) : undefined;
}
