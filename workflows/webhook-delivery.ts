import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { WebhookActivities } from '#activities/webhooks.ts';
import { webhookTaskQueue } from '#lib/task-queues.ts';

export interface WebhookDeliveryInput {
  readonly deliveryId: string;
}

/**
 * Makes one attempt of a delivery; ticks start the later ones. The activity records any behaviour of the receiver as an
 * outcome, so only our own errors are retried or fail the workflow.
 */
export async function webhookDelivery({ deliveryId }: WebhookDeliveryInput): Promise<string> {
  const { attemptDelivery } = proxyActivities<WebhookActivities>({
    // Attempts have slots of their own: receivers that hang for 20 s must not take those of model steps.
    taskQueue: webhookTaskQueue(workflowInfo().taskQueue),
    startToCloseTimeout: '40s',
    heartbeatTimeout: '10s',
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumAttempts: 5 },
    summary: deliveryId,
  });
  return attemptDelivery({ deliveryId });
}
