/** Calls `report` now and then every so often, until stopped. */
export function reportEvery(ms: number, report: () => void): { stop(): void } {
  report();
  const timer = setInterval(report, ms);
  return { stop: () => clearInterval(timer) };
}

/** Time since `startedAt` as people say it: "8 s", "2 min 5 s". */
export function elapsed(startedAt: number): string {
  const seconds = Math.round((Date.now() - startedAt) / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
