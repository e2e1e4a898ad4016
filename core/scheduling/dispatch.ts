import type { RunEngine, StartableRun } from '#core/runs/index.ts';
import { execute, sql, type Db } from '#lib/database/index.ts';
import type { Log } from '#lib/log.ts';
import { leaseRuns } from './lease-runs.ts';

export interface DispatchDeps {
  readonly database: Db;
  readonly engine: RunEngine;
  readonly log: Log;
}

/** Starts in flight at a time: enough to keep Temporal's one shard busy, few enough to stop quickly. */
const CONCURRENCY = 16;

/** Runs leased at a time. A project whose runs fall due meanwhile has its turn with the next lease. */
const BATCH = 50;

/**
 * Starts the workflows of queued runs until none is left, `signal` aborts, or Temporal cannot be reached. The rows
 * are the outbox: one that is not started now is found again by the next tick. As many starts as `CONCURRENCY` are
 * under way all the time; leasing and recording go on beside them.
 * @returns how many were started, and whether Temporal refused
 */
export async function dispatchQueuedRuns(
  { database, engine, log }: DispatchDeps,
  signal: AbortSignal,
): Promise<{ started: number; unavailable: boolean }> {
  const leased = leaseOneByOne(database);
  const unrecorded: string[] = [];
  let started = 0;
  let unavailable = false;
  const record = () => markStarted(database, unrecorded.splice(0));

  const lane = async () => {
    while (!signal.aborted && !unavailable) {
      const { value: run, done } = await leased.next();
      if (done === true) return;
      try {
        await engine.startRun(run);
      } catch (err) {
        unavailable = true;
        log.warn({ err, runId: run.id }, 'a run could not be started and stays queued');
        return release(database, [run.id]);
      }
      started += 1;
      unrecorded.push(run.id);
      if (unrecorded.length >= CONCURRENCY) await record();
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: CONCURRENCY }, lane));
  await record();
  await leased.return(undefined);
  for (const outcome of ended) if (outcome.status === 'rejected') throw outcome.reason;
  return { started, unavailable };
}

/** Hands out leased runs to whoever asks next, and gives back those that nobody asked for. */
async function* leaseOneByOne(db: Db): AsyncGenerator<StartableRun, undefined> {
  for (;;) {
    const batch = await leaseRuns(db, BATCH);
    if (batch.length === 0) return undefined;
    let given = 0;
    try {
      for (const run of batch) {
        given += 1;
        yield run;
      }
    } finally {
      await release(
        db,
        batch.slice(given).map(({ id }) => id),
      );
    }
  }
}

async function markStarted(db: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await execute(
    db,
    sql`
      update runs set start_leased_until = null, workflow_started_at = coalesce(workflow_started_at, now())
      where id = any(${ids})
    `,
  );
}

async function release(db: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await execute(db, sql`update runs set start_leased_until = null where id = any(${ids})`);
}
