import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { WebhookActivities } from '#activities/webhooks.ts';
import { webhookTaskQueue } from '#lib/temporal/names.ts';

export interface WebhookDeliveryInput {
  readonly deliveryId: string;
}

/**
 * One attempt of a delivery; ticks start the later ones. What the receiver does is an outcome that the activity has
 * recorded, so only faults of our own side are retried, or fail the workflow.
 */
export async function webhookDelivery({ deliveryId }: WebhookDeliveryInput): Promise<string> {
  const { attemptDelivery } = proxyActivities<WebhookActivities>({
    // Their own slots: receivers that hang for 20 s each must not take those of model steps.
    taskQueue: webhookTaskQueue(workflowInfo().taskQueue),
    startToCloseTimeout: '40s',
    heartbeatTimeout: '10s',
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumAttempts: 5 },
    summary: deliveryId,
  });
  return attemptDelivery({ deliveryId });
}
