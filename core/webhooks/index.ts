export { attemptDelivery, type AttemptDeps, type AttemptOutcome } from './attempt.ts';
export { FAILURE_REASONS, type Delivery } from './delivery.ts';
export { enqueueDelivery, enqueuePaused } from './enqueue.ts';
export {
  deleteDeliveries,
  eraseBodies,
  forgetDeliveries,
  forgetDeliveriesOf,
  giveUpDeliveries,
  hasOpenDelivery,
} from './erase.ts';
export { EVENT_TYPES, type EndedRun, type EventType } from './event.ts';
export { listDeliveries } from './list.ts';
export { hasLostDelivery } from './lost.ts';
export { redeliver } from './redeliver.ts';
export { kickDeliveries, startDueDeliveries, type StartDeliveriesDeps } from './start.ts';
