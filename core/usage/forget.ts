import { deleteBatch, sql, type Db } from '#lib/database/index.ts';
import { firstIdAt } from '#lib/ids.ts';

const DAY_MS = 86_400_000;

/** Entries of the ledger are kept for three years, however soon their runs are deleted: for questions about a bill. */
const LEDGER_DAYS = 1_100;

/** Deletes the oldest entries of the ledger; the days, to which they were added, keep their sum. */
export function forgetLedger(db: Db, limit: number): Promise<number> {
  // Ids of runs sort by time, so the ledger's key is its index here.
  const first = firstIdAt('run', new Date(Date.now() - LEDGER_DAYS * DAY_MS));
  return deleteBatch(db, {
    table: 'usage_ledger',
    where: sql`run_id < ${first}`,
    orderBy: sql`run_id`,
    limit,
  });
}

/** Deletes the oldest sums by day, after ten years. */
export function forgetDays(db: Db, limit: number): Promise<number> {
  return deleteBatch(db, {
    table: 'usage_days',
    where: sql`day < (now() at time zone 'utc' - interval '10 years')::date`,
    orderBy: sql`day`,
    limit,
  });
}
