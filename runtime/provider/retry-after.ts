import { parseRetryAfter } from '#lib/retry-after.ts';

/** Reads the wait that a provider asks for, in milliseconds; its reader judges whether it is sane. */
export function retryAfterIn(headers: Headers): number | undefined {
  return parseRetryAfter(headers.get('retry-after'), {
    now: new Date(),
    maxMs: Number.MAX_SAFE_INTEGER,
  });
}
