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
const BATCH = 200;

/**
 * Starts the workflows of queued runs until none is left, `signal` aborts, or Temporal cannot be reached. The rows
 * are the outbox: one that is not started now is found again by the next tick.
 * @returns how many were started, and whether Temporal refused
 */
export async function dispatchQueuedRuns(
  { database, engine, log }: DispatchDeps,
  signal: AbortSignal,
): Promise<{ started: number; unavailable: boolean }> {
  let started = 0;
  while (!signal.aborted) {
    const batch = await leaseRuns(database, BATCH);
    if (batch.length === 0) return { started, unavailable: false };
    const { done, failed } = await startAll(engine, batch, signal, log);
    await settle(database, done, failed);
    started += done.length;
    if (failed.length > 0) return { started, unavailable: true };
  }
  return { started, unavailable: false };
}

async function startAll(
  engine: RunEngine,
  batch: readonly StartableRun[],
  signal: AbortSignal,
  log: Log,
): Promise<{ done: string[]; failed: string[] }> {
  const waiting = [...batch];
  const done: string[] = [];
  const failed: string[] = [];
  const worker = async () => {
    for (let run = waiting.shift(); run !== undefined; run = waiting.shift()) {
      if (signal.aborted || failed.length > 0) {
        failed.push(run.id);
        continue;
      }
      try {
        await engine.startRun(run);
        done.push(run.id);
      } catch (err) {
        failed.push(run.id);
        log.warn({ err, runId: run.id }, 'a run could not be started and stays queued');
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return { done, failed };
}

async function settle(db: Db, done: readonly string[], failed: readonly string[]): Promise<void> {
  await execute(
    db,
    sql`
      update runs set start_leased_until = null,
        workflow_started_at = case when id = any(${done}) then coalesce(workflow_started_at, now())
          else workflow_started_at end
      where id = any(${[...done, ...failed]})
    `,
  );
}
