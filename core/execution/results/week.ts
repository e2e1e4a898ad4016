import { isWork } from '#core/foundation/engine/index.ts';
import { checkTimeZone } from '#core/foundation/timetable/index.ts';
import { databaseTime, ownedBy, sql, type Db } from '#lib/database/index.ts';
import { dateIn, nextOccurrences, parseStoredSchedule } from '#lib/schedule/index.ts';

/** How the runs of a day ended. */
export interface DayOfResults {
  readonly date: string;
  readonly startsAt: Date;
  readonly succeeded: number;
  readonly failed: number;
}

const DAYS = 7;
const WEEK_MS = DAYS * 86_400_000;
/** Number of the newest results that are counted; their index returns each in about a microsecond. */
const MOST_COUNTED = 20_000;

/** Counts the results of the last seven days by day, today last. @throws {AppError} `invalid_timezone` */
export async function countByDay(
  db: Db,
  projectId: string,
  timezone: string,
): Promise<{ days: DayOfResults[]; truncated: boolean }> {
  checkTimeZone(timezone);
  const now = await databaseTime(db);
  const midnights = nextOccurrences(
    parseStoredSchedule('0 0 * * *'),
    timezone,
    new Date(now.getTime() - WEEK_MS),
    DAYS,
  ).filter((midnight) => midnight <= now);
  const found = await db.rows<{ day: number; succeeded: number; failed: number }>`
    with latest as (
      select finished_at, state from runs
      where ${ownedBy(sql`project_id`, projectId)} and state in ('succeeded', 'failed') and content_erased_at is null
        and finished_at >= ${midnights[0]} and ${isWork(sql`trigger`)}
      order by project_id, finished_at desc, id desc limit ${MOST_COUNTED}
    )
    select width_bucket(finished_at, ${midnights}::timestamptz[]) as day,
      count(*) filter (where state = 'succeeded')::integer as succeeded,
      count(*) filter (where state = 'failed')::integer as failed
    from latest group by 1
  `;
  const total = found.reduce((sum, { succeeded, failed }) => sum + succeeded + failed, 0);
  const days = midnights.map((startsAt, index) => {
    const { succeeded = 0, failed = 0 } = found.find(({ day }) => day === index + 1) ?? {};
    return { date: dateIn(timezone, startsAt), startsAt, succeeded, failed };
  });
  return { days, truncated: total === MOST_COUNTED };
}
