import { forgetBreakers } from '#core/runs/index.ts';
import { execute, sql, type Db } from '#lib/database/index.ts';

/** Deletes what is no longer needed: idempotency keys and breakers after a day, rate limit windows after an hour. */
export async function forgetExpired(db: Db): Promise<void> {
  await execute(
    db,
    sql`delete from idempotency_keys where created_at < now() - interval '24 hours'`,
  );
  await execute(db, sql`delete from rate_limits where window_start < now() - interval '1 hour'`);
  await forgetBreakers(db);
}
