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
import type { RunActivities } from '#activities/runs.ts';
import type { ActionActivities, WebhookActivities } from '#activities/webhooks.ts';
import { webhookTaskQueue } from '#lib/task-queues.ts';
import { concludePolicy, heldActionPolicy, modelStepPolicy, toolCallPolicy } from './policies.ts';

export interface RunInput {
  readonly runId: string;
  readonly timeoutSeconds: number;
}

const { concludeRun } = proxyActivities<RunActivities>(concludePolicy);

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
        // The run's clock stops while the step waits for a slot.
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

export interface WebhookDeliveryInput {
  readonly deliveryId: string;
}

/**
 * Makes one attempt of a delivery; ticks start later ones. The activity records any behaviour of the receiver as an
 * outcome, so only errors of this service are retried or fail the workflow.
 */
export async function webhookDelivery({ deliveryId }: WebhookDeliveryInput): Promise<string> {
  const { attemptDelivery } = proxyActivities<WebhookActivities>({
    // Attempts have slots of their own, so that receivers that hang for 20 s do not take the slots of model steps.
    taskQueue: webhookTaskQueue(workflowInfo().taskQueue),
    startToCloseTimeout: '40s',
    heartbeatTimeout: '10s',
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

/** Sends an approved action. If nothing could be sent, a tick starts another workflow. */
export async function heldAction(input: HeldActionInput): Promise<string> {
  // Tools may hang as receivers of webhooks do, so actions share that queue and leave the slots of model steps free.
  const taskQueue = webhookTaskQueue(workflowInfo().taskQueue);
  const { sendAction } = proxyActivities<ActionActivities>({
    ...heldActionPolicy,
    taskQueue,
    summary: input.actionId,
  });
  return sendAction(input);
}
