export { attemptDelivery, type AttemptDeps, type AttemptOutcome } from './attempt.ts';
export {
  deliveryRetryMs,
  FAILURE_REASONS,
  hasLostDelivery,
  listDeliveries,
  RETRY_LADDER_MS,
  type Delivery,
} from './delivery.ts';
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
export { redeliver, sendTestEvent, startDueDeliveries, type StartDeliveriesDeps } from './start.ts';
