import type { Core } from '#core/core.ts';
import type { PausedRoutine } from '#core/events.ts';
import { afterCommit, AT_ONCE, type Db } from '#lib/database/index.ts';
import { newId } from '#lib/ids.ts';
import {
  actionBody,
  eventBody,
  eventType,
  pausedBody,
  questionBody,
  type EventType,
  type ReportedAction,
  type ReportedQuestion,
  type ReportedRun,
} from './event.ts';

type EnqueueCore = Pick<Core, 'work'>;

/**
 * Queues the event of a run in the transaction that ends the run, so that neither exists without the other. It starts
 * after the commit, or by a tick. Does nothing where the routine has no webhook or its receiver is gone.
 */
export function enqueueDelivery(core: EnqueueCore, tx: Db, run: ReportedRun & Webhook): Promise<void> {
  return enqueue(core, tx, { ...run, runId: run.id, type: eventType(run) }, () => eventBody(run));
}

/**
 * Queues the event of a routine that the service pauses, in the transaction that pauses it.
 * @param runId the run because of which it is paused; null for none
 */
export function enqueuePaused(core: EnqueueCore, tx: Db, routine: PausedRoutine, runId: string | null): Promise<void> {
  const about = { ...routine, routineId: routine.id, runId, type: 'routine.paused' as const };
  return enqueue(core, tx, about, () => pausedBody(routine, runId));
}

/** Queues the event of a held call, in the transaction that holds it or decides about it. */
export function enqueueActionEvent(
  core: EnqueueCore & Pick<Core, 'uiOrigin'>,
  tx: Db,
  action: ReportedAction & Webhook,
): Promise<void> {
  const url = `${core.uiOrigin}/p/${action.projectId}/actions/${action.id}`;
  // Of no run: what is delivered of a run decides what counts as changed.
  return enqueue(core, tx, { ...action, runId: null }, () => actionBody(action, url));
}

/** Queues the event of a question, in the transaction that asks or answers it. */
export function enqueueQuestion(core: EnqueueCore, tx: Db, question: ReportedQuestion & Webhook): Promise<void> {
  return enqueue(core, tx, question, () => questionBody(question));
}

type Webhook = Pick<PausedRoutine, 'webhookUrl' | 'webhookFailedAt'>;

interface NewEvent extends Webhook {
  readonly projectId: string;
  readonly routineId: string;
  readonly runId: string | null;
  readonly type: EventType;
}

async function enqueue({ work }: EnqueueCore, tx: Db, event: NewEvent, body: () => string): Promise<void> {
  if (event.webhookUrl === null || event.webhookFailedAt !== null) return;
  // Deliveries take turns by host. The routine may have another one when the attempt is made.
  const host = URL.parse(event.webhookUrl)?.host ?? '';
  await tx.run`
    insert into webhook_deliveries (
      id, organization_id, host, project_id, routine_id, run_id, event_type, body, state, next_attempt_at
    )
    select ${newId('delivery')}, organization_id, ${host}, id, ${event.routineId}, ${event.runId},
      ${event.type}, ${body()}, 'pending', ${AT_ONCE}
    from projects where id = ${event.projectId}
  `;
  afterCommit(tx, () => work.nudge('deliveries'));
}
