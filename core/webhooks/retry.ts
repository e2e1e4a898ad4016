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

/** No receiver can put a delivery off for longer than the longest wait of our own. */
const MAX_RETRY_AFTER_MS = 24 * HOUR_MS;

/** Each wait is up to this part shorter or longer, so that what failed together does not come back together. */
const JITTER = 0.1;

/**
 * How long to wait after the given attempt (1 is the first) has failed, at least as long as the receiver asked for.
 * @returns undefined after the last attempt
 */
export function retryDelayMs(
  attempt: number,
  retryAfterMs = 0,
  random: () => number = Math.random,
): number | undefined {
  const wait = RETRY_LADDER_MS[attempt - 1];
  if (wait === undefined) return undefined;
  const jittered = wait * (1 - JITTER + 2 * JITTER * random());
  return Math.round(Math.max(jittered, Math.min(retryAfterMs, MAX_RETRY_AFTER_MS)));
}

/** `Retry-After` (RFC 9110, 10.2.3), seconds or a date, as milliseconds from `now`; undefined when it is neither. */
export function parseRetryAfter(value: string | null, now: Date): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  // `Date.parse` also reads what is no HTTP date ("-5", "1.5"); all three forms of those begin with a weekday.
  const at = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(at - now.getTime(), 0);
}
