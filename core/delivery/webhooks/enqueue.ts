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
 * after the commit, or by a tick. Does nothing if the routine has no webhook or its receiver is gone.
 */
export function enqueueDelivery(core: EnqueueCore, tx: Db, run: ReportedRun & Webhook): Promise<void> {
  return enqueue(core, tx, [{ ...run, runId: run.id, type: eventType(run), body: () => eventBody(run) }]);
}

/**
 * Queues the event of a routine that the service pauses, in the transaction that pauses it.
 * @param runId the run that caused the pause; null for none
 */
export function enqueuePaused(core: EnqueueCore, tx: Db, routine: PausedRoutine, runId: string | null): Promise<void> {
  const about = { ...routine, routineId: routine.id, runId, type: 'routine.paused' as const };
  return enqueue(core, tx, [{ ...about, body: () => pausedBody(routine, runId) }]);
}

/** Queues the events of held calls, in the transaction that holds them or decides about them. */
export function enqueueActionEvents(
  core: EnqueueCore & Pick<Core, 'uiOrigin'>,
  tx: Db,
  actions: readonly (ReportedAction & Webhook)[],
): Promise<void> {
  const events = actions.map((action) => {
    const url = `${core.uiOrigin}/p/${action.projectId}/actions/${action.id}`;
    // Belongs to no run, because the deliveries of a run decide which data counts as changed.
    return { ...action, runId: null, body: () => actionBody(action, url) };
  });
  return enqueue(core, tx, events);
}

/** Queues the event of a question, in the transaction that asks or answers it. */
export function enqueueQuestion(core: EnqueueCore, tx: Db, question: ReportedQuestion & Webhook): Promise<void> {
  return enqueue(core, tx, [{ ...question, body: () => questionBody(question) }]);
}

type Webhook = Pick<PausedRoutine, 'webhookUrl' | 'webhookFailedAt'>;

interface NewEvent extends Webhook {
  readonly projectId: string;
  readonly routineId: string;
  readonly runId: string | null;
  readonly type: EventType;
  readonly body: () => string;
}

async function enqueue({ work }: EnqueueCore, tx: Db, events: readonly NewEvent[]): Promise<void> {
  const armed = events.filter(({ webhookUrl, webhookFailedAt }) => webhookUrl !== null && webhookFailedAt === null);
  if (armed.length === 0) return;
  const column = (of: (event: NewEvent) => string | null) => armed.map(of);
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
      ${column(({ runId }) => runId)}::text[], ${column(({ type }) => type)}::text[],
      ${column(({ body }) => body())}::text[])
      as event (id, host, project_id, routine_id, run_id, type, body)
    join projects p on p.id = event.project_id
  `;
  afterCommit(tx, () => work.nudge('deliveries'));
}
