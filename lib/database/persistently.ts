import { setTimeout as sleep } from 'node:timers/promises';
import { isUnavailable } from './database.ts';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;

/**
 * Repeats `work` while Postgres is away, until `signal` aborts. Only for idempotent work, since the response to a
 * commit may be what was lost.
 * @throws what `work` throws, unless it says that Postgres cannot be reached
 */
export async function persistently<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || !isUnavailable(error)) throw error;
    }
    await sleep(pauseMs, undefined, { signal });
  }
}
