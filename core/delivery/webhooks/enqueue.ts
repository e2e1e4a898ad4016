import type { StartableDelivery } from '#core/foundation/engine/index.ts';
import { AT_ONCE, type Db } from '#lib/database/index.ts';
import { newId } from '#lib/ids.ts';
import { eventBody, eventType, pausedBody, type EndedRun, type EventType, type PausedByService } from './event.ts';

/**
 * Queues the event of a run in the transaction that ends the run, so that neither exists without the other. The caller
 * calls `kickDeliveries` after its commit; if that fails, a tick starts the delivery. Costs nothing without a webhook.
 * @returns the delivery, or undefined when the routine has no webhook or its receiver is gone
 */
export async function enqueueDelivery(tx: Db, run: EndedRun & Webhook): Promise<StartableDelivery | undefined> {
  const { id: runId, projectId, routineId, webhookUrl } = run;
  if (!isArmed(run)) return undefined;
  return insertDelivery(tx, {
    projectId,
    routineId,
    runId,
    webhookUrl,
    eventType: eventType(run),
    body: eventBody(run),
  });
}

/** Queues the event of a routine that the service pauses, in the transaction that pauses it. */
export async function enqueuePaused(
  tx: Db,
  routine: PausedByService & Webhook,
): Promise<StartableDelivery | undefined> {
  const { id: routineId, projectId, runId, webhookUrl } = routine;
  if (!isArmed(routine)) return undefined;
  const body = pausedBody(routine);
  const eventType = 'routine.paused';
  return insertDelivery(tx, { projectId, routineId, runId, webhookUrl, eventType, body });
}

interface Webhook {
  readonly webhookUrl: string | null;
  readonly webhookFailedAt: Date | null;
}

function isArmed({ webhookUrl, webhookFailedAt }: Webhook): boolean {
  return webhookUrl !== null && webhookFailedAt === null;
}

interface NewDelivery {
  readonly projectId: string;
  readonly routineId: string;
  readonly runId: string | null;
  readonly webhookUrl: string | null;
  readonly eventType: EventType;
  readonly body: string;
}

async function insertDelivery(tx: Db, event: NewDelivery): Promise<StartableDelivery> {
  const id = newId('delivery');
  await tx.run`
    insert into webhook_deliveries (
      id, organization_id, host, project_id, routine_id, run_id, event_type, body, state, next_attempt_at
    )
    select ${id}, organization_id, ${hostOf(event.webhookUrl)}, id, ${event.routineId}, ${event.runId},
      ${event.eventType}, ${event.body}, 'pending', ${AT_ONCE}
    from projects where id = ${event.projectId}
  `;
  return { id, attempt: 1, projectId: event.projectId };
}

/**
 * Returns the host of the receiver, by which deliveries take turns. The routine may have another one when the attempt
 * is made.
 */
function hostOf(webhookUrl: string | null): string {
  return URL.parse(webhookUrl ?? '')?.host ?? '';
}
