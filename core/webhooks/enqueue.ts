import { execute, sql, type Db } from '#lib/database/index.ts';
import { newId } from '#lib/ids.ts';
import type { PendingDelivery } from './delivery.ts';
import { eventBody, eventType, type EndedRun } from './event.ts';
import { AT_ONCE, START_LEASE } from './times.ts';

/**
 * Queues the event of a run, in the transaction that ends the run, so that neither can be without the other. The
 * caller starts the delivery after its commit; when that fails, a tick does. Costs nothing without a webhook.
 * @returns the delivery to start, or undefined when the routine has no webhook or its receiver is gone
 */
export async function enqueueDelivery(
  tx: Db,
  run: EndedRun & { readonly webhookUrl: string | null; readonly webhookFailedAt: Date | null },
): Promise<PendingDelivery | undefined> {
  if (run.webhookUrl === null || run.webhookFailedAt !== null) return undefined;
  const id = newId('delivery');
  await execute(
    tx,
    sql`
      insert into webhook_deliveries (
        id, project_id, routine_id, run_id, event_type, body, state, next_attempt_at, claimed_until
      ) values (
        ${id}, ${run.projectId}, ${run.routineId}, ${run.id}, ${eventType(run)}, ${eventBody(run)}, 'pending',
        ${AT_ONCE}, now() + ${START_LEASE}
      )
    `,
  );
  return { id, attempt: 1, projectId: run.projectId };
}
