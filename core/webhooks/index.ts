export { attemptDelivery, type AttemptDeps, type AttemptOutcome } from './attempt.ts';
export {
  FAILURE_REASONS,
  type Delivery,
  type DeliveryAttempt,
  type DeliveryState,
  type FailureReason,
  type PendingDelivery,
} from './delivery.ts';
export { claimDueDeliveries } from './due.ts';
export { enqueueDelivery } from './enqueue.ts';
export type { EndedRun, EventType } from './event.ts';
export { kickDelivery, type DeliveryStarter } from './kick.ts';
export { listDeliveries } from './list.ts';
export { redeliver } from './redeliver.ts';
export {
  createSealedWebhookSecrets,
  generateWebhookSecret,
  type SealedWebhookSecrets,
} from './secret.ts';
