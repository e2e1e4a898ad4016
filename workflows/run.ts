import type { ActivityOptions } from '@temporalio/common';
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  proxyActivities,
  sleep,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import type { ActionActivities, RunActivities, WebhookActivities } from '#activities/activities.ts';
import { webhookTaskQueue } from '#lib/task-queues.ts';

export interface RunInput {
  readonly runId: string;
  readonly timeoutSeconds: number;
}

/** Time without a heartbeat after which a worker counts as dead. Heartbeats are sent every 3 s, so two may be lost. */
const HEARTBEAT_TIMEOUT = '10s';

/** Ends a run. The write is retried for long, because the run would never end without it. */
const { concludeRun } = proxyActivities<RunActivities>({
  startToCloseTimeout: '30s',
  retry: {
    initialInterval: '1s',
    backoffCoefficient: 2,
    maximumInterval: '30s',
    maximumAttempts: 200,
  },
  summary: 'conclude',
});

/**
 * Carries out a run: model steps, and between them the tool calls that they ask for, until a step ends the run. The
 * last step also records the end, so a run that needs no tools is a workflow with a single activity. `concludeRun`
 * records only failures, timeouts and cancellations.
 */
export async function run({ runId, timeoutSeconds }: RunInput): Promise<string> {
  // The run's clock starts with its first step, so there is no deadline before the response to that step.
  let deadline: number | undefined;
  try {
    for (let index = 0; ;) {
      const { modelStep } = proxyActivities<RunActivities>(
        modelStepPolicy({ timeoutSeconds, deadline }, `model step ${index}`),
      );
      const outcome = await modelStep({ runId, index });
      if (outcome.next === 'ended') return outcome.state;
      deadline = Date.now() + outcome.remainingMs;
      if (outcome.next === 'wait') {
        await sleep(outcome.delayMs);
        // Clear the deadline, because the run's clock stops while the step waits for a slot.
        deadline = undefined;
        continue;
      }
      for (const [offset, name] of outcome.toolCalls.entries()) {
        const { toolCall } = proxyActivities<RunActivities>(toolCallPolicy(deadline, `tool ${name}`));
        await toolCall({ runId, index: index + 1 + offset });
      }
      index = outcome.nextIndex;
    }
  } catch (error) {
    const ending = isCancellation(error) ? 'cancelled' : reasonOf(error);
    await CancellationScope.nonCancellable(() => concludeRun({ runId, ending }));
    return ending === 'cancelled' ? 'cancelled' : 'failed';
  }
}

type Reason = Exclude<Parameters<RunActivities['concludeRun']>[0]['ending'], 'cancelled'>;

function reasonOf(error: unknown): Reason {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof TimeoutFailure) {
    // A step that gets no slot in time may end with either type, because the server copies one of the two limits into
    // the other.
    return cause.timeoutType === 'SCHEDULE_TO_CLOSE' || cause.timeoutType === 'SCHEDULE_TO_START'
      ? 'timeout'
      : 'internal_error';
  }
  // A failed model step has a reason of the closed list as its type. Any other type is an error of this service.
  const type = cause instanceof ApplicationFailure ? cause.type : undefined;
  if (type === 'context_exceeded') return type;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the model's reasons are those of ModelFailure
  return type?.startsWith('model_') === true ? (type as Reason) : 'internal_error';
}

/** Enough attempts for some minutes without Postgres. A permanent error ends the activity before the run's timeout. */
const MAX_ATTEMPTS = 60;

/** Time after a run's deadline in which the step itself ends the run. If the worker cannot, Temporal ends the step. */
const GRACE_MS = 30_000;

/**
 * Returns the policy of a model step. The step is retried, after the provider's own delay if there is one, until the
 * activity marks the error as final. The first step waits for a slot without a limit, because the run's clock starts
 * with it. The limit of later steps includes their wait.
 */
function modelStepPolicy(
  { timeoutSeconds, deadline }: { timeoutSeconds: number; deadline: number | undefined },
  summary: string,
): ActivityOptions {
  return {
    startToCloseTimeout: timeoutSeconds * 1_000 + GRACE_MS,
    ...(deadline === undefined ? {} : { scheduleToCloseTimeout: msUntil(deadline) + GRACE_MS }),
    heartbeatTimeout: HEARTBEAT_TIMEOUT,
    retry: {
      initialInterval: '2s',
      backoffCoefficient: 2,
      maximumInterval: '30s',
      maximumAttempts: MAX_ATTEMPTS,
    },
    summary,
  };
}

/**
 * Returns the policy of a tool call. A failed call is a recorded result, so the activity is retried only when its
 * worker died or could not write; the record then decides whether the call itself is repeated. The deadlines of a call
 * add up to three minutes at most.
 */
function toolCallPolicy(deadline: number, summary: string): ActivityOptions {
  return {
    scheduleToCloseTimeout: msUntil(deadline),
    startToCloseTimeout: '5m',
    heartbeatTimeout: HEARTBEAT_TIMEOUT,
    retry: {
      initialInterval: '1s',
      backoffCoefficient: 2,
      maximumInterval: '30s',
      maximumAttempts: MAX_ATTEMPTS,
    },
    summary,
  };
}

function msUntil(deadline: number): number {
  return Math.max(deadline - Date.now(), 1);
}

export interface WebhookDeliveryInput {
  readonly deliveryId: string;
}

/**
 * Makes one attempt of a delivery; ticks start later attempts. The activity records any behaviour of the receiver as an
 * outcome, so only errors of this service are retried or fail the workflow.
 */
export async function webhookDelivery({ deliveryId }: WebhookDeliveryInput): Promise<string> {
  const { attemptDelivery } = proxyActivities<WebhookActivities>({
    // Attempts have slots of their own, so that receivers that hang for 20 s do not take the slots of model steps.
    taskQueue: webhookTaskQueue(workflowInfo().taskQueue),
    startToCloseTimeout: '40s',
    heartbeatTimeout: HEARTBEAT_TIMEOUT,
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumAttempts: 5 },
    summary: deliveryId,
  });
  return attemptDelivery({ deliveryId });
}

export interface HeldActionInput {
  readonly actionId: string;
  /** Number of this workflow among the workflows of the action. */
  readonly attempt: number;
}

/**
 * Sends an approved action. If nothing could be sent, a tick starts another workflow. The activity is retried only when
 * its worker died or could not write. The record then decides whether the call may be made.
 */
export async function heldAction(input: HeldActionInput): Promise<string> {
  // Tools may hang as receivers of webhooks do, so actions share the queue of the webhooks and leave the slots of model
  // steps free.
  const taskQueue = webhookTaskQueue(workflowInfo().taskQueue);
  const { sendAction } = proxyActivities<ActionActivities>({
    taskQueue,
    startToCloseTimeout: '5m',
    heartbeatTimeout: HEARTBEAT_TIMEOUT,
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s', maximumAttempts: 10 },
    summary: input.actionId,
  });
  return sendAction(input);
}
