import type { Exchange, FailureReason } from './delivery.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Waiting times between attempts: the first attempt comes at once, the last about three days later. */
export const RETRY_LADDER_MS: readonly number[] = [
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];

export const MAX_ATTEMPTS = RETRY_LADDER_MS.length + 1;

/** Limits `Retry-After` to the longest wait of our own. */
export const MAX_RETRY_AFTER_MS = 24 * HOUR_MS;

/** Varies each wait by up to this fraction, so that what failed together does not come back together. */
const JITTER = 0.1;

/**
 * Returns the wait after a failed attempt (1 is the first), at least as long as the receiver asked for.
 * @returns undefined after the last attempt
 */
export function deliveryRetryMs(
  attempt: number,
  retryAfterMs = 0,
  random: () => number = Math.random,
): number | undefined {
  const wait = RETRY_LADDER_MS[attempt - 1];
  if (wait === undefined) return undefined;
  const jittered = wait * (1 - JITTER + 2 * JITTER * random());
  return Math.round(Math.max(jittered, Math.min(retryAfterMs, MAX_RETRY_AFTER_MS)));
}

/** The consequence of an attempt for its delivery. */
export type Verdict =
  | { readonly state: 'delivered' }
  | { readonly state: 'pending'; readonly delayMs: number; readonly counts: boolean }
  | { readonly state: 'failed'; readonly reason: FailureReason };

/** Decides by an attempt: only 2xx is success. `rung` is its place on the retry schedule, from 1. */
export function decideVerdict(rung: number, exchange: Exchange): Verdict {
  const { status, interrupted, retryAfterMs } = exchange;
  if (status !== null && status >= 200 && status <= 299) return { state: 'delivered' };
  if (interrupted) return { state: 'pending', delayMs: 0, counts: false };
  const delayMs = deliveryRetryMs(rung, retryAfterMs);
  return delayMs === undefined
    ? { state: 'failed', reason: 'retries_exhausted' }
    : { state: 'pending', delayMs, counts: true };
}
