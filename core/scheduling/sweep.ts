import { cancellation, endRun, failure, type RunEngine } from '#core/runs/index.ts';
import { kickDelivery } from '#core/webhooks/index.ts';
import { execute, rows, sql, transaction, type Database } from '#lib/database/index.ts';
import type { Log } from '#lib/log.ts';
import type { Metrics } from '#lib/metrics/index.ts';

export interface SweepDeps {
  readonly database: Database;
  readonly engine: RunEngine;
  readonly log: Log;
  readonly metrics: Metrics;
}

interface OpenRun {
  readonly id: string;
  readonly state: 'queued' | 'running';
  readonly cancelRequested: boolean;
}

/** Runs looked at in one tick; each costs one question to Temporal, a few milliseconds. */
const BATCH = 200;

/**
 * Looks after open runs, the longest unlooked-at first: repeats a cancellation that Temporal may not have heard, and
 * settles a run whose workflow is gone. One that never began is started again; one that was under way ends as
 * `workflow_lost`, so that nothing waits for it for ever.
 * @returns how many runs had lost their workflow
 */
export async function sweepOpenRuns(deps: SweepDeps): Promise<number> {
  const { database, engine } = deps;
  const waiting = await takeOpenRuns(database);
  let settled = 0;
  try {
    for (let run = waiting[0]; run !== undefined; run = waiting[0]) {
      if (run.cancelRequested) await engine.cancelRun(run.id);
      const workflow = await engine.workflowState(run.id);
      if (workflow !== 'open') {
        await settle(deps, run, workflow);
        settled += 1;
      }
      waiting.shift();
    }
  } finally {
    // Temporal went away: these have not been looked at, and the next tick does it.
    await giveBack(database, waiting);
  }
  return settled;
}

async function giveBack(database: Database, waiting: readonly OpenRun[]): Promise<void> {
  if (waiting.length === 0) return;
  const ids = waiting.map(({ id }) => id);
  await execute(database, sql`update runs set checked_at = null where id = any(${ids})`);
}

function takeOpenRuns(database: Database): Promise<OpenRun[]> {
  return rows<OpenRun>(
    database,
    sql`
      update runs set checked_at = now()
      from (
        select id from runs
        where state in ('queued', 'running') and workflow_started_at is not null
          and coalesce(checked_at, workflow_started_at) < now() - interval '50 seconds'
        order by coalesce(checked_at, workflow_started_at) limit ${BATCH}
        for update skip locked
      ) chosen
      where runs.id = chosen.id
      returning runs.id, state, cancel_requested_at is not null as "cancelRequested"
    `,
  );
}

async function settle(
  { database, engine, log, metrics }: SweepDeps,
  run: OpenRun,
  workflow: 'completed' | 'gone',
): Promise<void> {
  log.warn({ runId: run.id, state: run.state, workflow }, 'an open run has lost its workflow');
  if (run.state === 'queued' && workflow === 'gone' && !run.cancelRequested) {
    await execute(
      database,
      sql`update runs set workflow_started_at = null where id = ${run.id} and state = 'queued'`,
    );
    return;
  }
  const ending = run.cancelRequested ? cancellation : failure('workflow_lost');
  const { ended, delivery } = await transaction(database, (tx) => endRun(tx, run.id, ending));
  if (ended) metrics.runEnded(ending);
  if (delivery !== undefined) await kickDelivery(engine, delivery, log);
}
