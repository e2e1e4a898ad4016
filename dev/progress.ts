/** Calls `report` at an interval, until stopped. */
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
