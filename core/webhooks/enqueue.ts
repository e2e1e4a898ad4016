import type { StartableDelivery } from '#core/engine/index.ts';
import { execute, sql, type Db } from '#lib/database/index.ts';
import { newId } from '#lib/ids.ts';
import {
  eventBody,
  eventType,
  pausedBody,
  type EndedRun,
  type EventType,
  type PausedByRun,
} from './event.ts';
import { AT_ONCE, START_LEASE } from './times.ts';

/**
 * Queues the event of a run in the transaction that ends the run, so that there is never one without the other. The
 * caller starts the delivery after its commit; if that fails, a tick does. Costs nothing without a webhook.
 * @returns the delivery to start, or undefined when the routine has no webhook or its receiver is gone
 */
export async function enqueueDelivery(
  tx: Db,
  run: EndedRun & Webhook,
): Promise<StartableDelivery | undefined> {
  const { id: runId, projectId, routineId } = run;
  if (!isArmed(run)) return undefined;
  return insertDelivery(tx, {
    projectId,
    routineId,
    runId,
    eventType: eventType(run),
    body: eventBody(run),
  });
}

/** Queues the event of a routine that was paused because of a run, in the transaction that pauses it. */
export async function enqueuePaused(
  tx: Db,
  routine: PausedByRun & Webhook,
): Promise<StartableDelivery | undefined> {
  const { id: routineId, projectId, runId } = routine;
  if (!isArmed(routine)) return undefined;
  const body = pausedBody(routine);
  return insertDelivery(tx, { projectId, routineId, runId, eventType: 'routine.paused', body });
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
  readonly runId: string;
  readonly eventType: EventType;
  readonly body: string;
}

async function insertDelivery(tx: Db, event: NewDelivery): Promise<StartableDelivery> {
  const id = newId('delivery');
  await execute(
    tx,
    sql`
      insert into webhook_deliveries (
        id, project_id, routine_id, run_id, event_type, body, state, next_attempt_at, claimed_until
      ) values (
        ${id}, ${event.projectId}, ${event.routineId}, ${event.runId}, ${event.eventType}, ${event.body}, 'pending',
        ${AT_ONCE}, now() + ${START_LEASE}
      )
    `,
  );
  return { id, attempt: 1, projectId: event.projectId };
}
