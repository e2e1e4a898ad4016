const MINUTE_MS = 60_000;

/**
 * Returns the instant so long ago, to the minute, so that the address of a read stays the same while the page is open.
 */
export function since(ms: number, now = Date.now()): string {
  return new Date(Math.floor((now - ms) / MINUTE_MS) * MINUTE_MS).toISOString();
}
