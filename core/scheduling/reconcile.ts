import { execute, rows, sql, transaction, type Database } from '#lib/database/index.ts';
import { nextOccurrence, parseStoredSchedule } from './schedule/index.ts';

/** Gives active routines without a next time their next time again; there should be none, and none may stay. */
export function reconcileNextTimes(database: Database): Promise<number> {
  return transaction(database, async (tx) => {
    const lost = await rows<{ id: string; schedule: string; timezone: string; now: Date }>(
      tx,
      sql`
        select id, schedule, timezone, now() as now from routines
        where state = 'active' and next_run_at is null limit 500 for update skip locked
      `,
    );
    if (lost.length === 0) return 0;
    const next = lost.map(({ id, schedule, timezone, now }) => ({
      id,
      next: nextOccurrence(parseStoredSchedule(schedule), timezone, now),
    }));
    return execute(
      tx,
      sql`
        update routines r set next_run_at = n.next
        from jsonb_to_recordset(${JSON.stringify(next)}::jsonb) as n(id text, next timestamptz)
        where r.id = n.id
      `,
    );
  });
}
