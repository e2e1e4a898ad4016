import { forgetAuditEvents } from '#core/audit/index.ts';
import { forgetEnded, forgetThrottles } from '#core/identity/index.ts';
import { forgetBreakers } from '#core/runs/index.ts';
import { execute, sql, type Db } from '#lib/database/index.ts';

/**
 * Deletes what is no longer needed: idempotency keys and breakers after a day, rate limit windows after an hour, audit
 * events when their time is over.
 */
export async function forgetExpired(db: Db, auditRetentionDays: number): Promise<void> {
  await execute(
    db,
    sql`delete from idempotency_keys where created_at < now() - interval '24 hours'`,
  );
  await execute(db, sql`delete from rate_limits where window_start < now() - interval '1 hour'`);
  await forgetBreakers(db);
  await forgetThrottles(db);
  await forgetEnded(db);
  await forgetAuditEvents(db, auditRetentionDays);
}
