import { eachApart, sql, type Database } from '#lib/database/index.ts';
import { cancellation, failure, skip, type RunState } from '#core/execution/run-states/index.ts';
import { buildIsGone } from '#core/execution/admission/index.ts';
import { runClock } from './run.ts';
import { endRun, type EndDeps } from './end-run.ts';
import { stopProofs } from './proposals.ts';
import { replaceMissed } from './replace.ts';

interface OpenRun {
  readonly id: string;
  readonly state: RunState;
  readonly cancelRequested: boolean;
}

/** Number of runs that one tick checks. Each run costs a call to Temporal of a few milliseconds. */
const BATCH = 200;

/**
 * Checks open runs in three steps. First carries out cancellations that were missed or that Temporal may not have
 * received, so that they never wait behind thousands of runs. Then ends runs far past their deadline, even if Temporal
 * calls them open. Last settles runs whose workflow is gone, the longest unchecked first: a run that never began is
 * started again, also when its workflow waits for a build that no worker serves; a run that had begun ends as
 * `workflow_lost`.
 * @returns the number of runs that had lost their workflow
 */
export async function sweepOpenRuns(deps: EndDeps, signal: AbortSignal): Promise<number> {
  let cancelled: number;
  try {
    await replaceMissed(deps);
    await stopProofs(deps);
    cancelled = await check(deps, await take(deps.database, CANCELLED), signal);
  } finally {
    // Do this even while Temporal is away, because a run's deadline does not wait for Temporal.
    await endOverdue(deps, signal);
  }
  return cancelled + (await check(deps, await take(deps.database, UNCHECKED), signal));
}

async function check(deps: EndDeps, waiting: OpenRun[], signal: AbortSignal): Promise<number> {
  const { database, engine } = deps;
  let settled = 0;
  try {
    for (let run = waiting[0]; run !== undefined; run = waiting[0]) {
      signal.throwIfAborted();
      if (run.cancelRequested) await engine.cancelRun(run.id);
      const workflow = await engine.workflowState(run.id);
      if (workflow !== 'open') {
        await settle(deps, run, workflow);
        settled += 1;
      } else if (run.state === 'queued' && (await isStranded(deps, run.id))) {
        await engine.terminateRun(run.id, 'its build has no worker any more');
        await settle(deps, run, 'gone');
        settled += 1;
      }
      waiting.shift();
    }
  } finally {
    // Leave the rest to the next tick, because Temporal is down.
    await giveBack(database, waiting);
  }
  return settled;
}

/** A run counts as lost by the platform this long after its deadline, if no step has ended it as `timeout`. */
const OVERDUE_MS = 120_000;
const OVERDUE_MESSAGE = 'The engine lost the run: nothing ended it when its time was over.';

async function endOverdue(deps: EndDeps, signal: AbortSignal): Promise<void> {
  const overdue = await deps.database.rows<{ id: string }>`
    select id from runs
    where state = 'running' and admitted_at is not null
      and case when waits_since is null then ${runClock.remainingMs(sql`runs`)}
      else ${runClock.patienceMs(sql`runs`)} end < -${OVERDUE_MS}::float8
    order by started_at limit ${BATCH}
  `;
  let reachable = true;
  await eachApart(
    overdue,
    async ({ id }) => {
      deps.log.warn({ runId: id }, 'a run is past its deadline and still open');
      await endRun(deps, id, failure('workflow_lost', OVERDUE_MESSAGE));
      // The row is settled, so a workflow that lives on finds nothing to do. While Temporal is away each call would
      // wait for its deadline, so no call follows a failed call.
      if (reachable) await deps.engine.terminateRun(id, 'past its deadline').catch(() => (reachable = false));
    },
    { signal, failed: (err, { id }) => deps.log.error({ err, runId: id }, 'a run cannot be ended') },
  );
}

async function giveBack(database: Database, waiting: readonly OpenRun[]): Promise<void> {
  if (waiting.length === 0) return;
  const ids = waiting.map(({ id }) => id);
  await database.run`update runs set checked_at = null where id = any(${ids})`;
}

/** Cancelled runs that were not checked since their cancellation, or not in the last 50 seconds. */
const CANCELLED = sql`cancel_requested_at < now() - interval '5 seconds'
        and (checked_at is null or checked_at < cancel_requested_at or checked_at < now() - interval '50 seconds')
      order by cancel_requested_at`;

const UNCHECKED = sql`coalesce(checked_at, workflow_started_at) < now() - interval '50 seconds'
      order by coalesce(checked_at, workflow_started_at)`;

function take(database: Database, which: typeof CANCELLED): Promise<OpenRun[]> {
  return database.rows<OpenRun>`
    update runs set checked_at = now()
    from (
      select id from runs
      where state in ('queued', 'running') and workflow_started_at is not null and ${which} limit ${BATCH}
      for update skip locked
    ) chosen
    where runs.id = chosen.id
    returning runs.id, state, cancel_requested_at is not null as "cancelRequested"
  `;
}

async function settle(deps: EndDeps, run: OpenRun, workflow: 'completed' | 'gone'): Promise<void> {
  const { database, log } = deps;
  log.warn({ runId: run.id, state: run.state, workflow }, 'an open run has lost its workflow');
  if (run.state === 'queued' && workflow === 'gone' && !run.cancelRequested) {
    await database.run`
      update runs set workflow_started_at = null, start_leased_until = now()
      where id = ${run.id} and state = 'queued'
    `;
    return;
  }
  await endRun(deps, run.id, run.cancelRequested ? cancellation : failure('workflow_lost'));
}

/**
 * Tells whether a run's workflow waits for a build without a live worker. A run that has not begun may begin on another
 * build; a run that has begun waits for workers of its own build.
 */
async function isStranded({ database, engine, admission }: EndDeps, runId: string): Promise<boolean> {
  const buildId = await engine.buildOf(runId);
  if (buildId === undefined) return false;
  return buildIsGone(database, admission.rule.taskQueue, buildId);
}

/** Number of runs skipped in one round. The next tick continues. */
const SKIPPED_AT_ONCE = 500;

/** Skips runs that have waited longer than `limits.maxQueueSeconds` without beginning, admitted or not. */
export async function expireQueued(deps: EndDeps, signal: AbortSignal): Promise<number> {
  signal.throwIfAborted();
  const expired = await deps.database.rows<{ id: string }>`
    select id from runs
    where state = 'queued' and started_at is null and queue_until <= now()
    order by queue_until limit ${SKIPPED_AT_ONCE}
  `;
  await eachApart(expired, ({ id }) => endRun(deps, id, skip('queue_expired')), {
    signal,
    failed: (err, { id: runId }) => deps.log.error({ err, runId }, 'a run could not be skipped'),
  });
  return expired.length;
}
