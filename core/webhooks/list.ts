import { rows, sql, type Db } from '#lib/database/index.ts';
import type { Delivery, DeliveryAttempt } from './delivery.ts';

/** Lists the deliveries of a run with all their attempts, oldest first. The caller has read the run in its project. */
export async function listDeliveries(db: Db, runId: string): Promise<Delivery[]> {
  const deliveries = await rows<Omit<Delivery, 'attempts'>>(
    db,
    sql`
      select id, event_type as "eventType", state, reason,
        case when state = 'pending' then next_attempt_at end as "nextAttemptAt",
        created_at as "createdAt", finished_at as "finishedAt"
      from webhook_deliveries where run_id = ${runId} order by id
    `,
  );
  if (deliveries.length === 0) return [];
  const attempts = await rows<DeliveryAttempt & { deliveryId: string }>(
    db,
    sql`
      select delivery_id as "deliveryId", index, started_at as "startedAt", duration_ms as "durationMs", status,
        error, response_excerpt as "responseExcerpt"
      from webhook_attempts where delivery_id = any(${deliveries.map(({ id }) => id)}) order by index
    `,
  );
  const byDelivery = Map.groupBy(attempts, ({ deliveryId }) => deliveryId);
  return deliveries.map((delivery) => ({
    ...delivery,
    attempts: (byDelivery.get(delivery.id) ?? []).map(
      ({ index, startedAt, durationMs, status, error, responseExcerpt }) => ({
        index,
        startedAt,
        durationMs,
        status,
        error,
        responseExcerpt,
      }),
    ),
  }));
}
