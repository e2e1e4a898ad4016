import { setTimeout as sleep } from 'node:timers/promises';
import { isTransient } from './database.ts';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;

/**
 * Repeats `work` while Postgres is away, fails over or has others hold what it needs, until `signal` aborts. Only for idempotent work, since the response to a
 * commit may be what was lost.
 * @throws what `work` throws, unless it may succeed later
 */
export async function persistently<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || !isTransient(error)) throw error;
    }
    await sleep(pauseMs, undefined, { signal });
  }
}
