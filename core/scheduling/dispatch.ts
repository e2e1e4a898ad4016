import type { RunEngine, StartableRun } from '#core/runs/index.ts';
import { execute, rows, sql, type Db } from '#lib/database/index.ts';
import type { Log } from '#lib/log.ts';

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
    const batch = await leaseBatch(database);
    if (batch.length === 0) return { started, unavailable: false };
    const { done, failed } = await startAll(engine, batch, signal, log);
    await settle(database, done, failed);
    started += done.length;
    if (failed.length > 0) return { started, unavailable: true };
  }
  return { started, unavailable: false };
}

/**
 * Takes the next runs to start: each project's oldest first, and the projects in turn, so that one project's
 * thousands stand behind another's ten. A manual run is started by the request that made it; it is taken here only
 * when that has not happened within ten seconds.
 */
function leaseBatch(db: Db): Promise<StartableRun[]> {
  return rows<StartableRun>(
    db,
    sql`
      with waiting as (
        select id, row_number() over (partition by project_id order by id) as turn
        from runs
        where state = 'queued' and workflow_started_at is null
          and (start_leased_until is null or start_leased_until < now())
          and (trigger = 'schedule' or created_at < now() - interval '10 seconds')
      ), chosen as (
        -- Asked again of the row itself: another tick may have leased or started it since the snapshot.
        select runs.id from runs join waiting using (id)
        where runs.state = 'queued' and runs.workflow_started_at is null
          and (runs.start_leased_until is null or runs.start_leased_until < now())
        order by waiting.turn, id limit ${BATCH}
        for update of runs skip locked
      )
      update runs set start_leased_until = now() + interval '30 seconds'
      from chosen where runs.id = chosen.id
      returning runs.id, project_id as "projectId", routine_id as "routineId", trigger,
        timeout_seconds as "timeoutSeconds"
    `,
  );
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
