import { remainingMsOf } from '#core/runs/index.ts';
import { row, sql, type Db } from '#lib/database/index.ts';

/** Tells whether a run goes on: it is running, nobody has cancelled it and its time is not over. */
export async function isStillWanted(db: Db, runId: string): Promise<boolean> {
  const run = await row<{ wanted: boolean }>(
    db,
    sql`
      select state = 'running' and cancel_requested_at is null and ${remainingMsOf(sql`runs`)} > 0 as wanted
      from runs where id = ${runId}
    `,
  );
  return run?.wanted === true;
}
