import type { Log } from './child.ts';

/** Calls `report` at an interval until it is stopped. */
export function reportEvery(ms: number, report: () => void): { stop(): void } {
  report();
  const timer = setInterval(report, ms);
  return { stop: () => clearInterval(timer) };
}

/** Formats the time since `startedAt`: "8 s", "2 min 5 s". */
export function elapsed(startedAt: number): string {
  const seconds = Math.round((Date.now() - startedAt) / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

export interface Progress {
  readonly log: Log;
  /** Waits for a part of the start, and prints the part's name if nothing else is printed for a while. */
  readonly during: <T>(part: string, work: Promise<T>) => Promise<T>;
  stop(): void;
}

const QUIET_MS = 5_000;

/**
 * Informs a waiting person: after five seconds without output it prints the part that the start waits for, and the
 * time.
 */
export function reportProgress(
  print: Log,
  { startedAt, quietMs = QUIET_MS }: { startedAt: number; quietMs?: number },
): Progress {
  const open = new Set<string>();
  const log: Log = (message) => {
    timer.refresh();
    print(message);
  };
  const timer = setInterval(() => {
    if (open.size > 0) print(`Waiting for ${[...open].join(', ')} (${elapsed(startedAt)})`);
  }, quietMs);
  return {
    log,
    async during(part, work) {
      open.add(part);
      try {
        return await work;
      } finally {
        open.delete(part);
      }
    },
    stop: () => clearInterval(timer),
  };
}
