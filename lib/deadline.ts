/** The time that a run has left, as a signal for its work. */
export interface Deadline {
  /** Aborts when the time is over or the caller's own signal aborts. */
  readonly signal: AbortSignal;
  /** Returns true when only the time limit ended the work. */
  isOver(): boolean;
  remainingMs(): number;
  clear(): void;
}

/** The longest delay of a timer (2^31 - 1 ms, 24 days); longer timers would fire at once. */
const LONGEST_MS = 2_147_483_647;

/** Starts a timer of `remainingMs`, combined with the caller's signal. */
export function startDeadline(remainingMs: number, signal: AbortSignal): Deadline {
  const end = performance.now() + remainingMs;
  // Use a separate timer: the one of `AbortSignal.timeout` would run on and keep the whole async context alive.
  const clock = new AbortController();
  const timer = setTimeout(() => clock.abort(), Math.min(Math.max(remainingMs, 0), LONGEST_MS));
  return {
    signal: AbortSignal.any([signal, clock.signal]),
    isOver: () => clock.signal.aborted && !signal.aborted,
    remainingMs: () => Math.max(end - performance.now(), 0),
    clear: () => clearTimeout(timer),
  };
}
