import type { Channel } from './message.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * Waits between attempts. A mail server may be away for a day; a ping says that a run has succeeded just now, so a late
 * one would mislead.
 */
const LADDER_MS: Readonly<Record<Channel, readonly number[]>> = {
  mail: [
    MINUTE_MS,
    5 * MINUTE_MS,
    15 * MINUTE_MS,
    HOUR_MS,
    2 * HOUR_MS,
    4 * HOUR_MS,
    8 * HOUR_MS,
    12 * HOUR_MS,
  ],
  ping: [MINUTE_MS, 2 * MINUTE_MS],
};

/** Returns the wait after a failed attempt, counted from 1; undefined after the last. */
export function retryDelayMs(channel: Channel, attempt: number): number | undefined {
  return LADDER_MS[channel][attempt - 1];
}

/** Returns true for an attempt beyond the last; those before it were lost with their processes. */
export function isBeyondLast(channel: Channel, attempt: number): boolean {
  return attempt > LADDER_MS[channel].length + 1;
}
