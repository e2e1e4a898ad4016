import { setNextTimes } from '#core/routines/index.ts';
import { rows, sql, transaction, type Database } from '#lib/database/index.ts';
import { nextOccurrence, parseStoredSchedule } from '#lib/schedule/index.ts';
import { pauseWithNews } from './pause-unreadable.ts';

interface Unscheduled {
  readonly id: string;
  readonly schedule: string;
  readonly timezone: string;
  readonly now: Date;
}

/** Gives active routines that have lost their next time a new one. There should be none, and none may stay. */
export function reconcileNextTimes(database: Database): Promise<number> {
  return transaction(database, async (tx) => {
    const lost = await rows<Unscheduled>(
      tx,
      sql`
        select id, schedule, timezone, now() as now from routines
        where state = 'active' and next_run_at is null limit 500
        for no key update skip locked
      `,
    );
    if (lost.length === 0) return 0;
    const found = lost.map((routine) => ({ id: routine.id, next: tryNext(routine) }));
    const readable = found.flatMap(({ id, next }) => (next === undefined ? [] : [{ id, next }]));
    const unreadable = found.filter(({ next }) => next === undefined);
    await pauseWithNews(
      tx,
      unreadable.map(({ id }) => ({ id, runId: null })),
    );
    return setNextTimes(tx, readable);
  });
}

function tryNext({ schedule, timezone, now }: Unscheduled): Date | undefined {
  try {
    return nextOccurrence(parseStoredSchedule(schedule), timezone, now);
  } catch {
    return undefined;
  }
}
