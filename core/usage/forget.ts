import { execute, sql, type Db } from '#lib/database/index.ts';
import { firstIdAt } from '#lib/ids.ts';

const DAY_MS = 86_400_000;

/** Entries of the ledger are kept for three years, however soon their runs are deleted: for questions about a bill. */
const LEDGER_DAYS = 1_100;

/** Deletes the oldest entries of the ledger; the days, to which they were added, keep their sum. */
export function forgetLedger(db: Db, limit: number): Promise<number> {
  // Ids of runs sort by time, so the ledger's key is its index here.
  const first = firstIdAt('run', new Date(Date.now() - LEDGER_DAYS * DAY_MS));
  return execute(
    db,
    sql`
      with old as (
        select run_id, step_index from usage_ledger where run_id < ${first}
        order by run_id limit ${limit}
        for update skip locked
      )
      delete from usage_ledger t using old where t.run_id = old.run_id and t.step_index = old.step_index
    `,
  );
}

/** Deletes the oldest sums by day, after ten years. */
export function forgetDays(db: Db, limit: number): Promise<number> {
  return execute(
    db,
    sql`
      with old as (
        select project_id, day, routine_id, model_id from usage_days
        where day < (now() at time zone 'utc' - interval '10 years')::date
        order by day limit ${limit}
        for update skip locked
      )
      delete from usage_days t using old
      where t.project_id = old.project_id and t.day = old.day and t.routine_id = old.routine_id
        and t.model_id = old.model_id
    `,
  );
}
