import {
  cancelAtRuntime,
  endCall,
  waitUntil,
  type IssuedCall,
  type ModelRuntime,
} from '#core/model-connections/index.ts';
import { persistently, type Db } from '#lib/database/index.ts';
import { CallFailure, type FailureCode } from '#lib/envelope/index.ts';
import type { Log } from '#lib/log.ts';
import { RuntimeUnreachable } from '#lib/runtime-client/index.ts';
import { fromCallFailure, fromCutCall, fromUnreachable } from './failure.ts';
import type { AccountStep } from './step.ts';

/** Wait for an allowance whose provider does not say when it is reset. */
const UNKNOWN_RESET_MS = 15 * 60_000;

/** Failures after which it is unknown whether the provider was asked. */
const UNKNOWN: ReadonlySet<FailureCode> = new Set(['unknown_outcome', 'result_gone', 'conflict']);

/** Failures of a call that may be billed, although nobody will ever state its usage. */
const CUT_OFF: ReadonlySet<FailureCode> = new Set<FailureCode>([...UNKNOWN, 'timeout']);

/**
 * Records the outcome of a call without a response, and returns its consequence for the step. A call that was fenced,
 * or of which nothing was heard, has no outcome yet and keeps its request id: a repeated request may still produce one.
 * The outcome of a call that was cut off is recorded with its settlement.
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
    const { reason } = error;
    if (reason === 'rejected' || reason === 'not_isolated' || reason === 'failing') {
      log.error({ requestId, reason }, 'the provider runtime does not take calls of this worker');
    }
    return fromUnreachable(error);
  }
  if (!(error instanceof CallFailure)) return error instanceof Error ? error : new Error('unknown');
  const { code, details } = error;
  if (code === 'fenced') return fromCallFailure(error);
  // The earlier delivery may be under way still, with what the step would have said then.
  if (code === 'conflict') await cancelAtRuntime(deps.runtime, [call], log);
  // First, so that nobody finds the account free and its allowance not yet known to be used up.
  if (code === 'usage_limit') {
    const until = new Date(details.resetAt ?? Date.now() + UNKNOWN_RESET_MS);
    await persistently(() => waitUntil(database, connection, until), signal);
  }
  const end = UNKNOWN.has(code) ? 'unknown_outcome' : 'failed';
  if (CUT_OFF.has(code)) return fromCutCall(error, (tx) => endCall(tx, call, end, code));
  await persistently(() => endCall(database, call, end, code), signal);
  return fromCallFailure(error);
}
