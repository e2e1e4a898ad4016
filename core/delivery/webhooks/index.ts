export { attemptDelivery, deliveryRetryMs, RETRY_LADDER_MS, type AttemptDeps, type AttemptOutcome } from './attempt.ts';
export { FAILURE_REASONS, hasLostDelivery, listDeliveries, type Delivery } from './delivery.ts';
export {
  deleteDeliveries,
  eraseBodies,
  forgetDeliveries,
  forgetDeliveriesOf,
  giveUpDeliveries,
  hasOpenDelivery,
} from './erase.ts';
export {
  enqueueActionEvents,
  enqueueDelivery,
  enqueuePaused,
  enqueueQuestion,
  EVENT_TYPES,
  eventBody,
  TEST_EVENT,
  type ReportedRun,
  type EventType,
} from './event.ts';
export { redeliver, startDueDeliveries, type StartDeliveriesDeps } from './start.ts';
export { sendTestEvent } from './send.ts';
