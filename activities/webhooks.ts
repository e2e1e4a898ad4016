import { Context } from '@temporalio/activity';
import type { Core } from '#core/core.ts';
import { sendAction, type SendActionDeps, type SendOutcome } from '#core/execution/actions/index.ts';
import { attemptDelivery, type AttemptDeps, type AttemptOutcome } from '#core/delivery/webhooks/index.ts';
import { withHeartbeat } from './heartbeat.ts';

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
