import type { StartableDelivery } from '#core/engine/index.ts';
import { rows, sql, type Db } from '#lib/database/index.ts';
import { START_LEASE } from './times.ts';

/**
 * Claims deliveries whose time has come, oldest first: pending ones that are due, and ones whose attempt was never
 * recorded. They are leased while their workflows are started, so that overlapping ticks share them out.
 */
export function claimDueDeliveries(db: Db, limit: number): Promise<StartableDelivery[]> {
  return rows<StartableDelivery>(
    db,
    sql`
      with due as (
        select id from webhook_deliveries
        where state in ('pending', 'sending') and greatest(next_attempt_at, claimed_until) <= now()
        order by greatest(next_attempt_at, claimed_until)
        limit ${limit}
        for update skip locked
      )
      update webhook_deliveries d set state = 'pending', claimed_until = now() + ${START_LEASE}
      from due where d.id = due.id
      returning d.id, d.attempt_count + 1 as attempt, d.project_id as "projectId"
    `,
  );
}
