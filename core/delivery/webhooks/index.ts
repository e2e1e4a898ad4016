export { attemptDelivery, type AttemptDeps, type AttemptOutcome } from './attempt.ts';
export {
  deliveryRetryMs,
  FAILURE_REASONS,
  hasLostDelivery,
  listDeliveries,
  RETRY_LADDER_MS,
  type Delivery,
} from './delivery.ts';
export { enqueueActionEvents, enqueueDelivery, enqueuePaused, enqueueQuestion } from './enqueue.ts';
export {
  deleteDeliveries,
  eraseBodies,
  forgetDeliveries,
  forgetDeliveriesOf,
  giveUpDeliveries,
  hasOpenDelivery,
} from './erase.ts';
export { EVENT_TYPES, eventBody, TEST_EVENT, type ReportedRun, type EventType } from './event.ts';
export { redeliver, startDueDeliveries, type StartDeliveriesDeps } from './start.ts';
export { sendTestEvent } from './send.ts';
