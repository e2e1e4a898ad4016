import { nextTimeFrom, setNextTimes, type Timing } from '#core/routines/index.ts';
import { rows, sql, transaction, type Database } from '#lib/database/index.ts';
import { pauseWithNews } from './pause-with-news.ts';

interface Unscheduled extends Timing {
  readonly now: Date;
}

/** Gives a new next time to active routines that have lost theirs. There should be none, and none may stay. */
export function reconcileNextTimes(database: Database): Promise<number> {
  return transaction(database, async (tx) => {
    const lost = await rows<Unscheduled>(
      tx,
      sql`
        select id, schedule, timezone, starts_at as "startsAt", ends_at as "endsAt", skip_dates as "skipDates",
          jitter_seconds as "jitterSeconds", now() as now
        from routines
        where state = 'active' and next_run_at is null limit 500
        for no key update skip locked
      `,
    );
    if (lost.length === 0) return 0;
    const found = lost.map((routine) => ({ id: routine.id, next: tryNext(routine) }));
    const readable = found.flatMap(({ id, next }) => (next === undefined ? [] : [{ id, next }]));
    const unreadable = found.filter(({ next }) => next === undefined);
    await pauseWithNews(tx, {
      unreadable: unreadable.map(({ id }) => ({ id, runId: null })),
      ended: [],
    });
    return setNextTimes(tx, readable);
  });
}

function tryNext(routine: Unscheduled): Date | undefined {
  try {
    return nextTimeFrom(routine, routine.now);
  } catch {
    return undefined;
  }
}
