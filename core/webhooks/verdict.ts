import type { FailureReason } from './delivery.ts';
import { retryDelayMs } from './retry.ts';
import type { Exchange } from './send.ts';

/** The consequence of an attempt for its delivery. */
export type Verdict =
  | { readonly state: 'delivered' }
  | { readonly state: 'pending'; readonly delayMs: number; readonly counts: boolean }
  | { readonly state: 'failed'; readonly reason: FailureReason };

/** Judges an attempt: only 2xx is success. `rung` is its place on the retry schedule, from 1. */
export function judge(rung: number, exchange: Exchange): Verdict {
  const { status, interrupted, retryAfterMs } = exchange;
  if (status !== null && status >= 200 && status <= 299) return { state: 'delivered' };
  if (interrupted) return { state: 'pending', delayMs: 0, counts: false };
  const delayMs = retryDelayMs(rung, retryAfterMs);
  return delayMs === undefined
    ? { state: 'failed', reason: 'retries_exhausted' }
    : { state: 'pending', delayMs, counts: true };
}
