import { APICallError, NoSuchToolError } from 'ai';
import { tokenCount, type Usage } from '#core/cost/index.ts';
import { runClock } from '#core/runs/index.ts';
import type { RunReason } from '#core/run-states/index.ts';
import { row, sql, storable, type Db } from '#lib/database/index.ts';
import { isJsonObject, type JsonObject } from '#lib/json.ts';
import { parseRetryAfter } from '#lib/retry-after.ts';
import { Refusal } from './gateway/refusal.ts';

/** Attempts at one model step. With the pauses between them they bridge an outage of about half a minute. */
const MAX_MODEL_ATTEMPTS = 5;

/** Attempts while a server refuses connections or loads its model: about five minutes. */
const MAX_PATIENT_ATTEMPTS = 13;

const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 30_000;

/**
 * Returns the pause before the next attempt at a model step: the provider's own, or one that doubles. Counts the
 * provider's failures, not the attempts that were lost with a worker.
 * @param firstPauseMs the pause that doubles, before the second attempt
 * @returns undefined when there is no next attempt: it would be useless, one too many, or too late for the run
 */
export function retryDelayMs(
  failure: ModelFailure,
  step: { readonly providerFailures: number; readonly remainingMs: number },
  firstPauseMs = FIRST_PAUSE_MS,
): number | undefined {
  const most = failure.isStarting ? MAX_PATIENT_ATTEMPTS : MAX_MODEL_ATTEMPTS;
  if (!failure.retryable || step.providerFailures >= most) return undefined;
  const pauseMs = Math.min(firstPauseMs * 2 ** (step.providerFailures - 1), LONGEST_PAUSE_MS);
  const delayMs = failure.retryAfterMs ?? pauseMs;
  return delayMs < step.remainingMs ? delayMs : undefined;
}

/** Records the end of a call. @returns false when it had ended already */
type EndCutCall = (tx: Db) => Promise<boolean>;

/** A model call without a usable response. `message` quotes nothing, so it may stand in Temporal's history. */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure';
  readonly reason: Extract<RunReason, `model_${string}`> | 'context_exceeded';
  /** True when the same call may succeed later. */
  readonly retryable: boolean;
  /** True when the service itself gave up a call that was under way, so that its usage is never stated. */
  readonly cutOff: boolean;
  /**
   * Ends the call on an account that was cut off, in the transaction that settles it: several attempts may be given the
   * same outcome, and the one that ends the call counts it. Undefined at the gateway.
   */
  readonly endCall: EndCutCall | undefined;
  /** The provider's own words, cleaned; empty where it said nothing. They are for those who may read the run. */
  readonly words: string;
  /** True when the server does not accept work yet, so that waiting for minutes may help. */
  readonly isStarting: boolean;
  /** Usage that the provider stated for a call that was cut off. */
  readonly usage: Usage | undefined;
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
      words?: string;
      isStarting?: boolean;
      usage?: Usage;
    },
  ) {
    super(message);
    this.reason = reason;
    this.retryable = options.retryable;
    this.retryAfterMs = options.retryAfterMs;
    this.cutOff = options.cutOff === true;
    this.endCall = options.endCall;
    this.words = options.words ?? '';
    this.isStarting = options.isStarting === true;
    this.usage = options.usage;
  }

  /** The message with the provider's words. */
  get told(): string {
    return this.words === '' ? this.message : `${this.message} It said: ${this.words}`;
  }
}

/** Converts any error of the model library into a failure with a reason of the closed list. */
export function toModelFailure(error: unknown): ModelFailure {
  const ours = causeOf(error, ModelFailure);
  if (ours !== undefined) return ours;
  const refusal = causeOf(error, Refusal);
  if (refusal !== undefined) return fromRefusal(refusal);
  if (APICallError.isInstance(error)) return fromCallError(error);
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

/** Finds an error of a class among an error and its causes. */
export function causeOf<T extends Error>(
  error: unknown,
  kind: new (...args: never[]) => T,
): T | undefined {
  return causes(error).find((cause): cause is T => cause instanceof kind);
}

/** Returns the error and its causes: the library wraps what our own fetch throws in errors of its own. */
function causes(error: unknown): Error[] {
  const found: Error[] = [];
  for (let cause = error; cause instanceof Error && found.length < 10; cause = cause.cause) {
    found.push(cause);
  }
  return found;
}

/** Reads an error of the library's call: there was no connection, or a response that it cannot read. */
function fromCallError(error: APICallError): ModelFailure {
  if (error.statusCode !== undefined) {
    const message = 'The model provider answered something unreadable.';
    return new ModelFailure('model_malformed', message, { retryable: true });
  }
  return new ModelFailure('model_unreachable', 'The model provider could not be reached.', {
    retryable: true,
    isStarting: causes(error).some((cause) => 'code' in cause && cause.code === 'ECONNREFUSED'),
  });
}

function fromRefusal({ usage, ...refusal }: Refusal): ModelFailure {
  const { status, words, isOverflow, begun, retryAfter } = refusal;
  const message = `The model provider answered ${status}.`;
  const retryAfterMs = parseRetryAfter(retryAfter, { now: new Date(), maxMs: MAX_RETRY_AFTER_MS });
  if (isOverflow) return new ModelFailure('context_exceeded', message, { retryable: false, words });
  if (status === 429) {
    return new ModelFailure('model_rate_limited', message, {
      retryable: true,
      retryAfterMs,
      words,
    });
  }
  // 408, 409 and 5xx are temporary; any other 4xx means that this request or our key is wrong.
  return new ModelFailure(reasonOf(status), message, {
    retryable: status >= 500 || status === 408 || status === 409,
    retryAfterMs,
    words,
    cutOff: begun,
    ...(isJsonObject(usage) ? { usage: usageIn(usage) } : {}),
    isStarting: status === 503,
  });
}

function usageIn(stated: JsonObject): Usage {
  return {
    inputTokens: tokenCount(Number(stated['prompt_tokens'])),
    cachedInputTokens: 0,
    outputTokens: tokenCount(Number(stated['completion_tokens'])),
    reasoningTokens: 0,
    estimated: false,
  };
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

export interface FailedAttempts {
  /** Failed attempts of the step because of its provider, this one included. */
  readonly providerFailures: number;
  /** Milliseconds that the run has left. */
  readonly remainingMs: number;
}

/**
 * Records on the step that an attempt failed and why, so that a run which is being retried shows the reason. Counts
 * nothing where another attempt has recorded the step or the run has ended; the next attempt finds that out.
 */
export async function recordFailedAttempt(
  db: Db,
  step: { runId: string; index: number },
  failure: ModelFailure,
): Promise<FailedAttempts> {
  const counted = await row<FailedAttempts>(
    db,
    sql`
      update steps set error_message = ${storable(failure.told)}, provider_failures = provider_failures + 1
      from runs
      where run_id = ${step.runId} and index = ${step.index} and steps.state = 'started' and runs.id = run_id
      returning provider_failures as "providerFailures",
        ${runClock.remainingMs(sql`runs`)} as "remainingMs"
    `,
  );
  return counted ?? { providerFailures: 1, remainingMs: Number.POSITIVE_INFINITY };
}
