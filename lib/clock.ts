/**
 * The clock for rows, ids and messages to other machines. Clocks of machines differ, so each process measures the
 * difference of its clock from that of Postgres (`keepClock`). A process without a database, such as the runtime, uses
 * its own clock.
 */
let aheadMs = 0;

/** Returns the time by the clock of Postgres, in milliseconds. */
export function now(): number {
  return Date.now() - aheadMs;
}

/** Milliseconds by which the clock of this machine is ahead; 0 for a small difference. */
export function clockAheadMs(): number {
  return aheadMs;
}

export function setClockAhead(ms: number): void {
  aheadMs = ms;
}
