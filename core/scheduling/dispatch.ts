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
  const queue = leaseAhead(database);
  const unrecorded: string[] = [];
  let started = 0;
  let unavailable = false;
  const record = () => markStarted(database, unrecorded.splice(0));

  const lane = async () => {
    while (!signal.aborted && !unavailable) {
      const run = await queue.next();
      if (run === undefined) return;
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
  await queue.giveBack();
  for (const outcome of ended) if (outcome.status === 'rejected') throw outcome.reason;
  return { started, unavailable };
}

/**
 * Hands out leased runs to whoever asks next, and leases more before they run out, so that nobody waits for the
 * database while Temporal has nothing to do.
 */
function leaseAhead(db: Db) {
  const leased: StartableRun[] = [];
  let none = false;
  let leasing: Promise<void> | undefined;
  const leaseMore = async () => {
    const batch = await leaseRuns(db, BATCH);
    none = batch.length === 0;
    leased.push(...batch);
  };
  const lease = () =>
    (leasing ??= leaseMore().finally(() => {
      leasing = undefined;
    }));
  return {
    async next(): Promise<StartableRun | undefined> {
      for (;;) {
        const run = leased.shift();
        // A fault is for whoever needs the next run; it will be met again then.
        if (!none && leased.length < CONCURRENCY) lease().catch(() => undefined);
        if (run !== undefined || none) return run;
        await lease();
      }
    },
    /** Those that nobody asked for. */
    async giveBack(): Promise<void> {
      await leasing?.catch(() => undefined);
      await release(
        db,
        leased.splice(0).map(({ id }) => id),
      );
    },
  };
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
