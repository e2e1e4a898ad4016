import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { empty, sql, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { isAdmitted, workersTakingRuns } from './room.ts';

export const ANNOUNCE_EVERY_MS = 5_000;

/**
 * Suffix of the id of a worker that stages the calls of rehearsals. Workers of release 0.1.0 make these calls for real,
 * and their ids lack the suffix.
 */
const REHEARSES = ':rehearses';

export function newWorkerId(): string {
  return `${hostname()}:${process.pid}:${randomUUID()}${REHEARSES}`;
}

/** @throws {AppError} `service_unavailable` while a worker that takes runs would make the calls of a rehearsal */
export async function assertRehearses(db: Db, taskQueue: string): Promise<void> {
  const earlier =
    await db.row`${workersTakingRuns(taskQueue, sql`1`)} and worker_id not like ${`%${REHEARSES}`} limit 1`;
  if (earlier === undefined) return;
  throw new AppError(
    'service_unavailable',
    'Workers of an earlier release still take runs and cannot rehearse; try again once they have stopped.',
    {
      'Retry-After': '15',
    },
  );
}

/** A worker that misses three announcements counts as gone. */
const LEASE = sql`interval '15 seconds'`;

export interface WorkerSlots {
  readonly workerId: string;
  readonly taskQueue: string;
  /** Steps that the worker performs at a time. */
  readonly slots: number;
  /** The worker's build; undefined unless builds are kept apart. */
  readonly buildId?: string | undefined;
  /** True if Temporal starts new runs on this worker (default). A worker of an earlier build only ends its own runs. */
  readonly takesRuns?: boolean;
}

/** Announces the room of a live worker, and deletes workers that have been gone for an hour. */
export async function announceSlots(db: Db, worker: WorkerSlots): Promise<void> {
  await db.run`
    with gone as (
      delete from worker_slots
      where expires_at < now() - interval '1 hour' and worker_id <> ${worker.workerId}
    )
    insert into worker_slots (worker_id, task_queue, slots, build_id, takes_runs, expires_at)
    values (${worker.workerId}, ${worker.taskQueue}, ${worker.slots}, ${worker.buildId ?? null},
      ${worker.takesRuns ?? true}, now() + ${LEASE})
    on conflict (worker_id) do update
      set slots = excluded.slots, takes_runs = excluded.takes_runs, expires_at = excluded.expires_at
  `;
}

/** Withdraws the room of a worker that drains and takes no further steps. */
export async function withdrawSlots(db: Db, workerId: string): Promise<void> {
  await db.run`delete from worker_slots where worker_id = ${workerId}`;
}

/** Counts the live workers of a build, and how many of them take new runs. Null means workers without a build. */
export async function workersOfBuild(
  db: Db,
  taskQueue: string,
  buildId: string | null,
): Promise<{ live: number; takingRuns: number }> {
  const found = await db.row<{ live: number; takingRuns: number }>`
    select count(*) as live, count(*) filter (where takes_runs) as "takingRuns" from worker_slots
    where task_queue = ${taskQueue} and build_id is not distinct from ${buildId}::text and expires_at > now()
  `;
  return found ?? { live: 0, takingRuns: 0 };
}

export async function openRunsOfBuild(db: Db, buildId: string): Promise<number> {
  const found = await db.row<{ count: number }>`
    select count(*) as count from runs where ${isAdmitted} and build_id = ${buildId}
  `;
  return found?.count ?? 0;
}

/** Tells whether a build has no live worker left while other workers take new runs. */
export async function buildIsGone(db: Db, taskQueue: string, buildId: string): Promise<boolean> {
  const found = await db.row<{ gone: boolean }>`
    select exists (${workersTakingRuns(taskQueue, empty)}) and not exists (
      select from worker_slots
      where task_queue = ${taskQueue} and build_id = ${buildId} and expires_at > now()) as gone
  `;
  return found?.gone === true;
}
