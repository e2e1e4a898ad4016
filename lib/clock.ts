/**
 * The time that rows, ids and messages to other machines go by. Machines disagree, so each process measures how far its
 * clock is from that of Postgres, see `keepClock`. A process without a database, as the runtime, has only its own.
 */
let aheadMs = 0;

/** Returns the time by the clock of Postgres, in milliseconds. */
export function now(): number {
  return Date.now() - aheadMs;
}

/** Milliseconds by which the clock of this machine is ahead; 0 while it is near enough. */
export function clockAheadMs(): number {
  return aheadMs;
}

export function setClockAhead(ms: number): void {
  aheadMs = ms;
}
