import { eachApart, rows, sql } from '#lib/database/index.ts';
import { endRun, type EndRunDeps } from '../end-run.ts';
import { skip } from '../ending.ts';

/** Runs skipped in one round; the next tick goes on. */
const BATCH = 500;

/**
 * Skips the runs that have waited longer than `limits.maxQueueSeconds` without beginning, whether they were admitted or
 * not. Stops between two of them when `signal` aborts.
 * @returns the number of skipped runs
 */
export async function expireQueued(deps: EndRunDeps, signal: AbortSignal): Promise<number> {
  signal.throwIfAborted();
  const expired = await rows<{ id: string }>(
    deps.database,
    sql`
      select id from runs
      where state = 'queued' and started_at is null and queue_until <= now()
      order by queue_until limit ${BATCH}
    `,
  );
  await eachApart(expired, ({ id }) => endRun(deps, id, skip('queue_expired')), {
    signal,
    failed: (err, { id: runId }) => deps.log.error({ err, runId }, 'a run could not be skipped'),
  });
  return expired.length;
}
