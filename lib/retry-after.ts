/**
 * Reads a `Retry-After` (RFC 9110, section 10.2.3), a number of seconds or an HTTP date.
 * @returns milliseconds from `now`, from 0 to `maxMs`; undefined when the header is absent or has another form
 */
export function parseRetryAfter(
  header: string | null | undefined,
  { now, maxMs }: { now: Date; maxMs: number },
): number | undefined {
  const text = header?.trim() ?? '';
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1_000 : httpDate(text) - now.getTime();
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(waitMs, 0), maxMs);
}

/** Parses an HTTP date. All three forms begin with a weekday, while `Date.parse` also accepts "-5" and "1.5". */
function httpDate(text: string): number {
  return /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text) ? Date.parse(text) : Number.NaN;
}
