import type { Context } from 'koa';
import { AppError } from '#lib/errors.ts';
import type { Wait } from '../route.ts';

/** The longest wait; proxies and clients often cut a request at 60 seconds. */
export const LONGEST_WAIT_SECONDS = 50;

/**
 * Reads the seconds of `Prefer: wait` (RFC 7240, section 4.3), at most the longest wait. Of several waits, the first
 * counts. An unreadable or unknown preference is ignored.
 */
export function preferredWait(header: string): number | undefined {
  const preferences = header.match(/(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g) ?? [];
  const first = preferences.find((each) => /^\s*wait\s*(?:[=;]|$)/i.test(each)) ?? '';
  const [, bare, quoted] = VALUE.exec(first) ?? [];
  const seconds = Number(bare ?? quoted ?? 0);
  return seconds === 0 ? undefined : Math.min(seconds, LONGEST_WAIT_SECONDS);
}

const VALUE = /^\s*wait\s*=\s*(?:(\d{1,9})|"(\d{1,9})")\s*(?:;|$)/i;

/**
 * Makes the wait that a request prefers; undefined if the request prefers none. The wait ends after its time, or when
 * the client leaves. A caller who lost the right to read during the wait is refused.
 */
export function waitOf(ctx: Context, isAllowed: (signal: AbortSignal) => Promise<boolean>): Wait | undefined {
  const seconds = preferredWait(ctx.get('prefer'));
  if (seconds === undefined) return undefined;
  return async (until) => {
    const gone = new AbortController();
    ctx.res.once('close', () => gone.abort());
    const begun = performance.now();
    await until(AbortSignal.any([gone.signal, AbortSignal.timeout(seconds * 1_000)]));
    ctx.state.waitedMs = performance.now() - begun;
    if (!gone.signal.aborted && !(await isAllowed(gone.signal))) {
      throw new AppError('authentication_required');
    }
    ctx.set('Preference-Applied', `wait=${seconds}`);
  };
}

/** Tells whether a caller wants a list of all faults of a refused request: `Prefer: error-details` (RFC 7240). */
export function prefersDetails(ctx: Context): boolean {
  return ctx
    .get('prefer')
    .split(',')
    .some((preference) => /^\s*error-details\s*(?:;|$)/i.test(preference));
}
