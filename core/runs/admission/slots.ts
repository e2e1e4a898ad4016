import { execute, sql, type Db } from '#lib/database/index.ts';

/** How often a worker repeats its announcement. */
export const ANNOUNCE_EVERY_MS = 5_000;

/** Three announcements may be missed before a worker counts as gone. */
const LEASE = sql`interval '15 seconds'`;

export interface WorkerSlots {
  readonly workerId: string;
  readonly taskQueue: string;
  /** Steps of runs that the worker performs at a time. */
  readonly slots: number;
}

/** Announces the room of a live worker, and forgets workers that have been gone for an hour. */
export async function announceSlots(db: Db, worker: WorkerSlots): Promise<void> {
  await execute(
    db,
    sql`
      with gone as (
        delete from worker_slots
        where expires_at < now() - interval '1 hour' and worker_id <> ${worker.workerId}
      )
      insert into worker_slots (worker_id, task_queue, slots, expires_at)
      values (${worker.workerId}, ${worker.taskQueue}, ${worker.slots}, now() + ${LEASE})
      on conflict (worker_id) do update set slots = excluded.slots, expires_at = excluded.expires_at
    `,
  );
}

/** Takes the room of a worker away: it drains, and takes no further steps. */
export async function withdrawSlots(db: Db, workerId: string): Promise<void> {
  await execute(db, sql`delete from worker_slots where worker_id = ${workerId}`);
}
