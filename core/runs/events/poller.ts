export interface Poller {
  /** Ensures that the next call of `work` begins within this time. */
  within(ms: number): void;
}

/**
 * Calls `work` repeatedly, never twice at a time.
 * @param work must not throw
 * @param pauseAfter returns the pause after a call of this duration; Infinity stops until `within` is called
 */
export function createPoller(
  work: () => Promise<void>,
  pauseAfter: (tookMs: number) => number,
): Poller {
  let timer: NodeJS.Timeout | undefined;
  let dueAt = Number.POSITIVE_INFINITY;
  let working = false;

  function within(ms: number): void {
    const at = performance.now() + ms;
    if (at >= dueAt) return;
    dueAt = at;
    if (working) return;
    clearTimeout(timer);
    timer = setTimeout(() => void poll(), ms);
    timer.unref();
  }

  async function poll(): Promise<void> {
    const started = performance.now();
    working = true;
    dueAt = Number.POSITIVE_INFINITY;
    await work();
    working = false;
    const now = performance.now();
    const asked = dueAt - now;
    dueAt = Number.POSITIVE_INFINITY;
    within(Math.max(Math.min(asked, pauseAfter(now - started)), 0));
  }

  return { within };
}
