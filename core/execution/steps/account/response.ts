import type { ModelMessage } from 'ai';
import {
  assistantPart,
  brokenInWords,
  finishClass,
  finishWord,
  NO_REASON,
  usageOf,
} from '#core/clients/gateway/index.ts';
import { cancelAtRuntime, endCall, type IssuedCall } from '#core/models/calls/index.ts';
import { waitUntil } from '#core/models/connections/index.ts';
import type { ModelRuntime } from '#core/models/providers/index.ts';
import { reasonAsMessage } from '#core/execution/run-states/index.ts';
import { now } from '#lib/clock.ts';
import { persistently, type Db } from '#lib/database/index.ts';
import { CallFailure, type FailureCode, type RunResult } from '#lib/envelope/index.ts';
import { parseExact } from '#lib/exact-json/parse.ts';
import type { Log } from '#lib/log.ts';
import { RuntimeUnreachable } from '#lib/runtime-client/index.ts';
import { storedResponse, type AccountStep, type ModelCall, type ModelResponse } from '../model-call.ts';
import { ModelFailure, Stop } from '../stop.ts';

/**
 * @throws {ModelFailure} when the finish reason says that the response is incomplete; the transaction that settles the
 * failure also ends the call
 */
export function responseOf(input: ModelCall, result: RunResult, call: IssuedCall, secret: string): ModelResponse {
  const said = without(secret, result);
  const { toolCalls, usage: stated } = said;
  const word = finishWord(said.finishReason) ?? NO_REASON;
  const usage = usageOf(input, stated, { texts: [said.text], calls: toolCalls });
  const kind = finishClass(word);
  if (kind === 'broken' || kind === 'unknown' || (kind === 'calls' && toolCalls.length === 0)) {
    throw new ModelFailure('model_error', brokenInWords(word), {
      retryable: true,
      cutOff: true,
      usage,
      finishWord: word,
      endCall: (tx) => endCall(tx, call, 'failed', 'model_error'),
    });
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the session's model library made them, and the next step's checks them
  const made = said.messages as unknown as readonly ModelMessage[];
  const { text, messages } = assistantPart(said.text, made);
  return storedResponse({ text, messages, toolCalls, finishReason: word, usage, call });
}

function without(secret: string, result: RunResult): RunResult {
  const text = JSON.stringify(result);
  const escaped = JSON.stringify(secret).slice(1, -1);
  if (!text.includes(escaped)) return result;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a text within texts is replaced by another
  return parseExact(text.replaceAll(escaped, '[redacted]')) as RunResult;
}

/** Waiting time for an allowance whose reset the provider does not name. */
const UNKNOWN_RESET_MS = 15 * 60_000;

/** Failures after which it is unknown whether the provider was asked. */
const UNKNOWN: ReadonlySet<FailureCode> = new Set(['unknown_outcome', 'result_gone', 'conflict']);

/** Failures of a call that may be billed, although its usage is never stated. */
const CUT_OFF: ReadonlySet<FailureCode> = new Set<FailureCode>([...UNKNOWN, 'timeout']);

/**
 * Records the outcome of a call without a response, and returns its consequence for the step. A call that was fenced,
 * or whose runtime did not answer, keeps its request id: a repeated request may still produce a response. The outcome
 * of a call that was cut off is recorded with its settlement.
 */
export async function recordFailure(
  deps: { readonly database: Db; readonly runtime: ModelRuntime; readonly log: Log },
  { connection }: AccountStep,
  call: IssuedCall,
  error: unknown,
  signal: AbortSignal,
): Promise<Error> {
  const { database, log } = deps;
  const { requestId } = call;
  if (error instanceof RuntimeUnreachable) {
    const { reason, clockAheadSeconds } = error;
    if (reason === 'rejected' || reason === 'not_isolated' || reason === 'failing') {
      log.error({ requestId, reason, clockAheadSeconds }, 'the provider runtime does not take calls of this worker');
    }
    return fromUnreachable(error);
  }
  if (!(error instanceof CallFailure)) return error instanceof Error ? error : new Error('unknown');
  const { code, details } = error;
  if (code === 'fenced') return fromCallFailure(error);
  // Cancel the earlier delivery, which may still be running; its own outcome is not known yet.
  if (code === 'conflict') await cancelAtRuntime(deps.runtime, [call], log);
  // Record this first: no other step may find the account free before its allowance is known to be used up.
  if (code === 'usage_limit' && !hasNoMoney(error)) {
    const until = new Date(details.resetAt ?? now() + UNKNOWN_RESET_MS);
    await persistently(() => waitUntil(database, connection, until), signal);
  }
  const end = UNKNOWN.has(code) ? 'unknown_outcome' : 'failed';
  if (CUT_OFF.has(code)) {
    return new ModelFailure('model_unreachable', error.message, {
      retryable: true,
      cutOff: true,
      endCall: (tx) => endCall(tx, call, end, code),
    });
  }
  await persistently(() => endCall(database, call, end, code), signal);
  return fromCallFailure(error);
}

/** Tells whether the account has no money. A reset renews an allowance, but gives an account no money. */
function hasNoMoney({ details }: Pick<CallFailure, 'details'>): boolean {
  return details.status === 402 && details.resetAt == null;
}

/** The longest delay of a step that a provider can demand. */
const MAX_RETRY_AFTER_MS = 5 * 60_000;

/** Converts a sealed failure of the runtime into its consequence for the step. */
function fromCallFailure({ code, message, details }: CallFailure): ModelFailure | Stop {
  const retryAfterMs = details.retryAfterMs == null ? undefined : Math.min(details.retryAfterMs, MAX_RETRY_AFTER_MS);
  switch (code) {
    case 'provider_disabled':
      return Stop.fails('blocked_provider_disabled', message);
    case 'file_mismatch':
      return Stop.fails('blocked_provider_mismatch');
    case 'usage_limit':
      return hasNoMoney({ details })
        ? new ModelFailure('model_account_empty', reasonAsMessage('model_account_empty'), { retryable: false })
        : new ModelFailure('model_usage_limit', message, { retryable: false });
    case 'rate_limited':
      return new ModelFailure('model_rate_limited', message, { retryable: true, retryAfterMs });
    case 'credential_refused':
      // 403: the credential is valid, but does not permit this call.
      return details.status === 403
        ? new ModelFailure('model_refused', message, { retryable: false })
        : new ModelFailure('model_credential_refused', message, { retryable: false });
    case 'model_error': {
      const refused = details.retryable === false;
      const text = details.status == null ? message : `The model provider answered ${details.status}.`;
      return new ModelFailure(refused ? 'model_refused' : 'model_error', text, { retryable: !refused, retryAfterMs });
    }
    case 'malformed':
      return new ModelFailure('model_malformed', message, { retryable: true });
    case 'too_large':
      return new ModelFailure('model_refused', message, { retryable: false });
    case 'sandbox_failed':
      return new ModelFailure('model_session_failed', message, { retryable: true });
    case 'timeout':
    case 'fenced':
    case 'conflict':
    case 'unknown_outcome':
    case 'result_gone':
    case 'cancelled':
      return new ModelFailure('model_unreachable', message, { retryable: true });
  }
}

/** Converts an exchange without a sealed outcome into its consequence for the step. The call keeps its request id. */
export function fromUnreachable({ reason, message, retryAfterMs }: RuntimeUnreachable): ModelFailure | Stop {
  // Wait: the runtime has begun nothing, and may have room in a moment.
  if (reason === 'busy') return Stop.waits(retryAfterMs);
  return new ModelFailure('model_unreachable', message, { retryable: true });
}
