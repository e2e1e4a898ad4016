import { sql, type Sql } from '#lib/database/index.ts';

/** Returns an SQL condition that is true when the event of a run's end was given up. */
export function hasLostDelivery(runId: Sql): Sql {
  return sql`exists (
    select from webhook_deliveries d
    where d.run_id = ${runId} and d.state = 'failed' and d.event_type <> 'routine.paused')`;
}
