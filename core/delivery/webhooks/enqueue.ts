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
 * Queues the event of a run in the transaction that ends the run, so that neither exists without the other, and starts
 * it after the commit; if that fails, a tick does. Does nothing where the routine has no webhook or its receiver is
 * gone.
 */
export async function enqueueDelivery(core: EnqueueCore, tx: Db, run: ReportedRun & Webhook): Promise<void> {
  const { id: runId, projectId, routineId, webhookUrl } = run;
  if (!isArmed(run)) return;
  const event = { eventType: eventType(run), body: eventBody(run) };
  await insertDeliveries(core, tx, [{ projectId, routineId, runId, webhookUrl, ...event }]);
}

/**
 * Queues the event of a routine that the service pauses, in the transaction that pauses it.
 * @param runId the run because of which it is paused; null for none
 */
export async function enqueuePaused(
  core: EnqueueCore,
  tx: Db,
  routine: PausedRoutine,
  runId: string | null,
): Promise<void> {
  const { id: routineId, projectId, webhookUrl } = routine;
  if (!isArmed(routine)) return;
  const event = { eventType: 'routine.paused' as const, body: pausedBody(routine, runId) };
  await insertDeliveries(core, tx, [{ projectId, routineId, runId, webhookUrl, ...event }]);
}

/** Queues the events of held calls, in the transaction that holds them or decides about them. */
export async function enqueueActionEvents(
  core: EnqueueCore & Pick<Core, 'uiOrigin'>,
  tx: Db,
  actions: readonly (ReportedAction & Webhook)[],
): Promise<void> {
  const events = actions.filter(isArmed).map((action): NewDelivery => {
    const { id, projectId, routineId, webhookUrl, type } = action;
    const body = actionBody(action, `${core.uiOrigin}/p/${projectId}/actions/${id}`);
    // Of no run: what is delivered of a run decides what counts as changed.
    return { projectId, routineId, runId: null, webhookUrl, eventType: type, body };
  });
  await insertDeliveries(core, tx, events);
}

/** Queues the event of a question, in the transaction that asks or answers it. */
export async function enqueueQuestion(core: EnqueueCore, tx: Db, question: ReportedQuestion & Webhook): Promise<void> {
  const { projectId, routineId, runId, webhookUrl, type } = question;
  if (!isArmed(question)) return;
  const event = { eventType: type, body: questionBody(question) };
  await insertDeliveries(core, tx, [{ projectId, routineId, runId, webhookUrl, ...event }]);
}

type Webhook = Pick<PausedRoutine, 'webhookUrl' | 'webhookFailedAt'>;

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

async function insertDeliveries({ work }: EnqueueCore, tx: Db, events: readonly NewDelivery[]): Promise<void> {
  if (events.length === 0) return;
  const column = (of: (event: NewDelivery) => string | null) => events.map(of);
  // Deliveries take turns by host. The routine may have another one when the attempt is made.
  const hosts = column(({ webhookUrl }) => URL.parse(webhookUrl ?? '')?.host ?? '');
  await tx.run`
    insert into webhook_deliveries (
      id, organization_id, host, project_id, routine_id, run_id, event_type, body, state, next_attempt_at
    )
    select event.id, p.organization_id, event.host, p.id, event.routine_id, event.run_id, event.type, event.body,
      'pending', ${AT_ONCE}
    from unnest(${column(() => newId('delivery'))}::text[], ${hosts}::text[],
      ${column(({ projectId }) => projectId)}::text[], ${column(({ routineId }) => routineId)}::text[],
      ${column(({ runId }) => runId)}::text[], ${column(({ eventType }) => eventType)}::text[],
      ${column(({ body }) => body)}::text[])
      as event (id, host, project_id, routine_id, run_id, type, body)
    join projects p on p.id = event.project_id
  `;
  afterCommit(tx, () => work.nudge('deliveries'));
}
