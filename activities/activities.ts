import { ApplicationFailure, Context } from '@temporalio/activity';
import type { Core } from '#core/core.ts';
import { attemptDelivery, type AttemptDeps, type AttemptOutcome } from '#core/delivery/webhooks/index.ts';
import { sendAction, type SendActionDeps, type SendOutcome } from '#core/execution/actions/index.ts';
import type { AdmissionReport } from '#core/execution/admission/index.ts';
import { cancellation, failure, type FailureReason } from '#core/execution/run-states/index.ts';
import { endRun } from '#core/execution/runs/index.ts';
import {
  ModelFailure,
  performModelStep,
  performToolStep,
  recordFailedAttempt,
  retryDelayMs,
  type StepOutcome,
  type StepsCore,
  type ToolStepOutcome,
} from '#core/execution/steps/index.ts';
import { createTickParts, type TickDeps } from '#core/scheduling/index.ts';

export interface RunActivityDeps extends StepsCore {
  /** Pause before the second attempt at a model step, by default 2 s; each further pause is twice as long. */
  readonly firstPauseMs?: number;
}

export interface RunActivities {
  modelStep(input: { runId: string; index: number }): Promise<StepOutcome>;
  toolCall(input: { runId: string; index: number }): Promise<ToolStepOutcome>;
  concludeRun(input: { runId: string; ending: 'cancelled' | FailureReason }): Promise<void>;
}

/** Creates the activities of a run. A failure has a reason of the closed list as its type, and no text of a user. */
export function createRunActivities(deps: RunActivityDeps): RunActivities {
  return {
    async modelStep(input) {
      const { cancellationSignal } = Context.current();
      try {
        return await withHeartbeat(() => performModelStep(deps, input, cancellationSignal));
      } catch (error) {
        if (!(error instanceof ModelFailure)) throw error;
        const { reason, message, words } = error;
        deps.log.warn({ ...input, reason, words }, message);
        const step = await recordFailedAttempt(deps.database, input, error);
        const nextRetryDelay = retryDelayMs(error, step, deps.firstPauseMs);
        throw ApplicationFailure.create({
          type: reason,
          message,
          nonRetryable: nextRetryDelay === undefined,
          ...(nextRetryDelay !== undefined && { nextRetryDelay }),
        });
      }
    },
    async toolCall(input) {
      const { cancellationSignal } = Context.current();
      const started = performance.now();
      const outcome = await withHeartbeat(() => performToolStep(deps, input, cancellationSignal));
      const seconds = (performance.now() - started) / 1_000;
      if (outcome !== 'skipped') deps.metrics.toolCall({ outcome, seconds });
      return outcome;
    },
    async concludeRun({ runId, ending }) {
      await endRun(deps, runId, ending === 'cancelled' ? cancellation : failure(ending));
    },
  };
}

export interface WebhookActivities {
  /**
   * Makes one attempt of a due delivery, and then starts other deliveries in the free slot.
   * @returns the state of the delivery; `not_due` when another attempt has it
   */
  attemptDelivery(input: { deliveryId: string }): Promise<AttemptOutcome>;
}

type WebhookDeps = AttemptDeps & Pick<Core, 'metrics' | 'work'>;

/** Creates the activities of the webhook task queue (`webhookTaskQueue`). */
export function createWebhookActivities(deps: WebhookDeps): WebhookActivities {
  return {
    async attemptDelivery({ deliveryId }) {
      const { cancellationSignal: signal, info } = Context.current();
      const after = brokenOff(info);
      const started = performance.now();
      const outcome = await withHeartbeat(() => attemptDelivery(deps, deliveryId, { signal, after }));
      const seconds = (performance.now() - started) / 1_000;
      if (outcome !== 'not_due') deps.metrics.webhookAttempt({ outcome, seconds });
      deps.work.nudge('deliveries');
      return outcome;
    },
  };
}

export interface ActionActivities {
  /** Sends an approved action, unless another workflow has taken it over. */
  sendAction(input: { actionId: string; attempt: number }): Promise<SendOutcome>;
}

/** Creates the activity of approved actions, which the webhook task queue serves too. */
export function createActionActivities(deps: SendActionDeps): ActionActivities {
  return {
    sendAction: ({ actionId: id, attempt }) =>
      withHeartbeat(() => sendAction(deps, { id, attempt }, Context.current().cancellationSignal)),
  };
}

/**
 * Returns the number of the delivery attempt that a dead worker had claimed; undefined for the first attempt of the
 * activity. The id of the workflow ends with the number of its first delivery attempt, see `startDelivery`.
 */
function brokenOff({ attempt, workflowExecution }: Context['info']): number | undefined {
  const first = Number(workflowExecution?.workflowId.split('-').at(-1));
  return attempt > 1 && Number.isInteger(first) ? first + attempt - 2 : undefined;
}

export interface SchedulingActivities {
  dispatch(): Promise<AdmissionReport>;
  claimDue(): Promise<void>;
  startDeliveries(): Promise<void>;
  expireQueued(): Promise<void>;
  sweepRuns(): Promise<void>;
  keepHouse(): Promise<void>;
  applyRetention(): Promise<void>;
  syncPayments(): Promise<void>;
  refreshCatalogues(): Promise<void>;
  sendMessages(): Promise<void>;
}

/**
 * Creates the activities of the scheduler. Each activity does one part of a tick, so that no part delays the others.
 */
export function createSchedulingActivities(deps: TickDeps): SchedulingActivities {
  const parts = createTickParts(deps);
  return {
    dispatch: () => withHeartbeat(() => parts.admission()),
    claimDue: () => untilCancelled(async (signal) => void (await parts.claim(signal))),
    startDeliveries: () => untilCancelled(async (signal) => void (await parts.deliveries(signal))),
    expireQueued: () => untilCancelled(async (signal) => void (await parts.expire(signal))),
    sweepRuns: () => untilCancelled(async (signal) => void (await parts.sweep(signal))),
    refreshCatalogues: () => untilCancelled(async (signal) => void (await parts.catalogues(signal))),
    sendMessages: () => untilCancelled(async (signal) => void (await parts.messages(signal))),
    keepHouse: () => untilCancelled((signal) => parts.housekeeping(signal)),
    applyRetention: () => untilCancelled(async (signal) => void (await parts.retention(signal))),
    syncPayments: () => untilCancelled((signal) => parts.payments(signal)),
  };
}

/** Does the work with heartbeats, so that the signal is aborted once the attempt has timed out. */
function untilCancelled<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  return withHeartbeat(() => work(Context.current().cancellationSignal));
}

const BEAT_MS = 3_000;

/**
 * Sends heartbeats during `work`. The responses report a cancellation, and Temporal treats a worker as dead when its
 * heartbeats stop.
 */
async function withHeartbeat<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), BEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
