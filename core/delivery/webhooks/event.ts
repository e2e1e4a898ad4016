import type { Core } from '#core/core.ts';
import type { PausedRoutine } from '#core/events.ts';
import type { Usage } from '#core/foundation/cost/index.ts';
import type { Trigger } from '#core/foundation/engine/index.ts';
import type { Routine } from '#core/authoring/routines/index.ts';
import { urgencyOf, type ComparedResult, type Urgency } from '#core/authoring/outcomes/index.ts';
import { afterCommit, AT_ONCE, type Db } from '#lib/database/index.ts';
import { newId } from '#lib/ids.ts';
import { utf8Start } from '#lib/text.ts';

type EnqueueCore = Pick<Core, 'work'>;

/**
 * Queues the event of a run in the transaction that ends the run, so that neither exists without the other. The
 * delivery starts after the commit, or in a tick. Does nothing if the routine has no webhook or its receiver is gone.
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
    // Leave out the run: the deliveries of a run decide which data counts as changed, and this event carries no data.
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
  // Store the host by which deliveries take turns. The URL may name another host by the time of the attempt.
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

/** An ended run with the fields of its event. Skipped occurrences have no event. */
export interface ReportedRun extends Omit<Usage, 'estimated'> {
  readonly id: string;
  readonly routineId: string;
  readonly projectId: string;
  readonly trigger: Trigger;
  readonly state: 'succeeded' | 'failed' | 'cancelled';
  readonly reason: string | null;
  readonly errorMessage: string | null;
  readonly scheduledFor: Date | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date;
  readonly result: string | null;
  /** Outcome of the run; null unless the run succeeded. */
  readonly outcome: string | null;
  readonly outcomeSummary: string | null;
  readonly statedUrgency: Urgency | null;
  readonly checks: readonly { readonly type: string; readonly passed: boolean; readonly detail: string }[];
  readonly warnings: readonly string[];
  /** Data of the result in the form of its routine's `resultSchema`; null without a schema. */
  readonly data: unknown;
  readonly changes: ComparedResult | null;
  readonly deliver: Routine['deliver'];
  /** Cost in US dollars as a decimal string; null when the model has no price. */
  readonly costUsd: string | null;
  /** True when the provider stated no usage for some step, so that the usage of that step was estimated. */
  readonly estimatedUsage: boolean;
}

/** A question of a run with the fields of its event. */
interface ReportedQuestion {
  readonly type: 'question.asked' | 'question.answered';
  readonly id: string;
  readonly routineId: string;
  readonly projectId: string;
  /** The run that asked the question last. */
  readonly runId: string;
  readonly question: string;
  readonly choices: readonly string[] | null;
  readonly defaultAnswer: string | null;
  /** The answer; null until the question is answered. */
  readonly answer: string | null;
  readonly expiresAt: Date;
  readonly at: Date;
}

export const EVENT_TYPES = [
  'run.succeeded',
  'run.changed',
  'run.failed',
  'run.cancelled',
  'routine.paused',
  'action.held',
  'action.decided',
  'question.asked',
  'question.answered',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

export const TEST_EVENT = 'webhook.test';

/** Returns the type of the event: `run.changed` if the routine delivers changes and the run has changes. */
function eventType(run: ReportedRun): EventType {
  if (run.deliver === 'changed' && run.changes !== null) return 'run.changed';
  return `run.${run.state}`;
}

/** The longest result text of an event, in bytes of UTF-8. The detail of the run has the whole text. */
export const MAX_RESULT_BYTES = 256 * 1024;

/** Builds the JSON text that is signed and sent. The text is stored, so that every attempt sends the same bytes. */
export function eventBody(run: ReportedRun): string {
  const { inputTokens, cachedInputTokens, outputTokens, reasoningTokens, costUsd } = run;
  const { estimatedUsage: estimated } = run;
  return JSON.stringify({
    type: eventType(run),
    timestamp: run.finishedAt,
    data: {
      id: run.id,
      routineId: run.routineId,
      projectId: run.projectId,
      trigger: run.trigger,
      state: run.state,
      reason: run.reason,
      errorMessage: run.errorMessage,
      scheduledFor: run.scheduledFor,
      createdAt: run.createdAt,
      startedAt: run.startedAt,
      finishedAt: run.finishedAt,
      outcome: run.outcome,
      outcomeSummary: run.outcomeSummary,
      urgency: urgencyOf(run),
      checks: run.checks.map(({ type, passed, detail }) => ({ type, passed, detail })),
      warnings: run.warnings,
      ...limitedResult(run.result),
      data: run.data,
      changes: run.changes,
      usage: {
        inputTokens,
        cachedInputTokens,
        outputTokens,
        reasoningTokens,
        totalTokens: inputTokens + outputTokens,
        costUsd,
        estimated,
      },
    },
  });
}

export function pausedBody(routine: PausedRoutine, runId: string | null): string {
  return JSON.stringify({
    type: 'routine.paused' satisfies EventType,
    timestamp: routine.pausedAt,
    data: {
      routineId: routine.id,
      projectId: routine.projectId,
      name: routine.name,
      state: 'paused',
      reason: routine.stateReason,
      runId,
    },
  });
}

/** A held tool call that waits for a person, or about which a person has decided. */
interface ReportedAction {
  readonly type: Extract<EventType, `action.${string}`>;
  readonly id: string;
  readonly projectId: string;
  readonly routineId: string;
  readonly runId: string;
  readonly state: string;
  readonly reason: string | null;
  readonly toolName: string;
  readonly connectionId: string;
  readonly expiresAt: Date;
  readonly at: Date;
}

/**
 * Builds the JSON text of an event about a held call. The event has no arguments: they are shown only on the page of
 * the call.
 */
function actionBody({ type, at, ...action }: ReportedAction, url: string): string {
  const { id, projectId, routineId, runId, state, reason, toolName, connectionId, expiresAt } = action;
  return JSON.stringify({
    type,
    timestamp: at,
    data: { id, projectId, routineId, runId, state, reason, toolName, connectionId, expiresAt, url },
  });
}

function questionBody(told: ReportedQuestion): string {
  const { type, at, id, routineId, projectId, runId, question, choices, defaultAnswer, answer, expiresAt } = told;
  return JSON.stringify({
    type,
    timestamp: at,
    data: { id, routineId, projectId, runId, question, choices, default: defaultAnswer, answer, expiresAt },
  });
}

function limitedResult(result: string | null): { result: string | null; resultTruncated: boolean } {
  if (result === null || Buffer.byteLength(result) <= MAX_RESULT_BYTES) return { result, resultTruncated: false };
  return { result: utf8Start(Buffer.from(result), MAX_RESULT_BYTES), resultTruncated: true };
}
