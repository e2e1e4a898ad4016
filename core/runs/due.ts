import { eachApart, rows, sql, execute, type Db } from '#lib/database/index.ts';
import { skip } from '#core/run-states/index.ts';
import { endRun, type AfterEndDeps } from './end-run.ts';

/** Runs skipped in one round; the next tick goes on. */
const SKIPPED_AT_ONCE = 500;

/**
 * Skips the runs that have waited longer than `limits.maxQueueSeconds` without beginning, whether they were admitted or
 * not. Stops between two of them when `signal` aborts.
 * @returns the number of skipped runs
 */
export async function expireQueued(deps: AfterEndDeps, signal: AbortSignal): Promise<number> {
  signal.throwIfAborted();
  const expired = await rows<{ id: string }>(
    deps.database,
    sql`
      select id from runs
      where state = 'queued' and started_at is null and queue_until <= now()
      order by queue_until limit ${SKIPPED_AT_ONCE}
    `,
  );
  await eachApart(expired, ({ id }) => endRun(deps, id, skip('queue_expired')), {
    signal,
    failed: (err, { id: runId }) => deps.log.error({ err, runId }, 'a run could not be skipped'),
  });
  return expired.length;
}

/** Runs released in one statement, so that no transaction holds many. */
const RELEASED_AT_ONCE = 1_000;

/** Releases the runs whose `runAt` has come: they wait for admission like all others. */
export async function releaseDue(db: Db): Promise<void> {
  while (
    (await execute(
      db,
      sql`
        with due as (
          select id from runs where held and state = 'queued' and run_at <= now()
          order by run_at limit ${RELEASED_AT_ONCE}
          for no key update skip locked
        )
        update runs set held = false from due where runs.id = due.id
      `,
    )) === RELEASED_AT_ONCE
  );
}
