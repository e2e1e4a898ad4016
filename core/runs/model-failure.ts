import { APICallError, NoSuchToolError } from 'ai';
import type { Db } from '#lib/database/index.ts';
import { parseRetryAfter } from '#lib/retry-after.ts';
import type { RunReason } from './states.ts';

/** Attempts at one model step. With the pauses between them they bridge an outage of about half a minute. */
const MAX_MODEL_ATTEMPTS = 5;

const FIRST_PAUSE_MS = 2_000;

/**
 * Returns the pause before the next attempt at a model step: the provider's own, or one that doubles. Counts the
 * provider's failures, not the attempts that were lost with a worker.
 * @returns undefined when there is no next attempt: it would be useless, one too many, or too late for the run
 */
export function retryDelayMs(
  failure: ModelFailure,
  step: { readonly providerFailures: number; readonly remainingMs: number },
): number | undefined {
  if (!failure.retryable || step.providerFailures >= MAX_MODEL_ATTEMPTS) return undefined;
  const delayMs = failure.retryAfterMs ?? FIRST_PAUSE_MS * 2 ** (step.providerFailures - 1);
  return delayMs < step.remainingMs ? delayMs : undefined;
}

/** Records the end of a call. @returns false when it had ended already */
type EndCutCall = (tx: Db) => Promise<boolean>;

/** A model call without a usable response. `message` may be shown to users: it quotes no body, header or key. */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure';
  readonly reason: Extract<RunReason, `model_${string}`>;
  /** True when the same call may succeed later. */
  readonly retryable: boolean;
  /** True when the service itself gave up a call that was under way, so that nobody will state its usage. */
  readonly cutOff: boolean;
  /**
   * Ends the call on an account that was cut off, in the transaction that settles it: several attempts may be given the
   * same outcome, and the one that ends the call counts it. Undefined at the gateway.
   */
  readonly endCall: EndCutCall | undefined;
  /** Delay that the provider asked for in `Retry-After`, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(
    reason: ModelFailure['reason'],
    message: string,
    options: {
      retryable: boolean;
      retryAfterMs?: number | undefined;
      cutOff?: boolean;
      endCall?: EndCutCall;
    },
  ) {
    super(message);
    this.reason = reason;
    this.retryable = options.retryable;
    this.retryAfterMs = options.retryAfterMs;
    this.cutOff = options.cutOff === true;
    this.endCall = options.endCall;
  }
}

/** Converts any error of the model library into a failure with a reason of the closed list. */
export function toModelFailure(error: unknown): ModelFailure {
  const ours = causes(error).find((cause) => cause instanceof ModelFailure);
  if (ours !== undefined) return ours;
  if (APICallError.isInstance(error)) return fromResponse(error);
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

/** Returns the error and its causes: the library wraps what our own fetch throws in errors of its own. */
function causes(error: unknown): Error[] {
  const found: Error[] = [];
  for (let cause = error; cause instanceof Error && found.length < 10; cause = cause.cause) {
    found.push(cause);
  }
  return found;
}

function fromResponse(error: APICallError): ModelFailure {
  const status = error.statusCode;
  if (status === undefined) {
    return new ModelFailure('model_unreachable', 'The model provider could not be reached.', {
      retryable: true,
    });
  }
  const retryAfterMs = parseRetryAfter(error.responseHeaders?.['retry-after'], {
    now: new Date(),
    maxMs: MAX_RETRY_AFTER_MS,
  });
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
  // 408, 409 and 5xx are temporary; any other 4xx means that this request or our key is wrong.
  const retryable = status >= 500 || status === 408 || status === 409;
  return new ModelFailure(reasonOf(status), `The model provider answered ${status}.`, {
    retryable,
    retryAfterMs,
  });
}

/**
 * Returns the reason for a status: 401, 402 and 403 are about the operator's key at the gateway, not about what a
 * routine asks for.
 */
function reasonOf(status: number): 'model_error' | 'model_refused' | 'model_key_refused' {
  if (status >= 401 && status <= 403) return 'model_key_refused';
  const refused = status >= 400 && status < 500 && status !== 408 && status !== 409;
  return refused ? 'model_refused' : 'model_error';
}

/** Longest delay by which a provider can postpone a step. */
const MAX_RETRY_AFTER_MS = 5 * 60_000;
