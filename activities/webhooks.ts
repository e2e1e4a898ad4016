import { Context } from '@temporalio/activity';
import { attemptDelivery, type AttemptDeps, type AttemptOutcome } from '#core/webhooks/index.ts';
import { withHeartbeat } from './heartbeat.ts';

export type WebhookActivityDeps = AttemptDeps;

export interface WebhookActivities {
  attemptDelivery(input: { deliveryId: string }): Promise<AttemptOutcome>;
}

/** To be served from the webhook task queue, see `webhookTaskQueue`. */
export function createWebhookActivities(deps: WebhookActivityDeps): WebhookActivities {
  return {
    attemptDelivery: ({ deliveryId }) => {
      const { cancellationSignal: signal } = Context.current();
      return withHeartbeat(() => attemptDelivery(deps, deliveryId, { signal }));
    },
  };
}
