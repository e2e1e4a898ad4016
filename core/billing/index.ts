export {
  assertMayActivate,
  mayActivate,
  othersHaveRun,
  readPeriodUsage,
  runsExceeded,
  runsPerDay,
  takeOneRun,
  takeRuns,
  writeRefused,
  type PeriodUsage,
} from './allowances.ts';
export { beginCheckout, checkoutBarrier } from './payment/checkout.ts';
export { createPayment, priceFaults, reportPriceFaults, type Payment } from './payment/payment.ts';
export { listCustomers, oldestUnsynced, requestSync } from './payment/customers.ts';
export { recordEvent, verifyEvent, type PaymentEvent } from './payment/events.ts';
export { visitPortal } from './payment/portal.ts';
export { connectProcessor, type Processor } from './payment/processor.ts';
export { keepPaymentsInStep } from './payment/reconcile.ts';
export { refreshWithin, syncOrganization, syncWithin } from './payment/sync.ts';
export { setUpProcessor } from './payment/setup.ts';
export { readBilling, type BillingSummary } from './payment/summary.ts';
export {
  effectivePlan,
  mayWrite,
  PAID_PLANS,
  PLANS,
  runsAtATimeOf,
  type Plan,
  type PlanRule,
} from './plans.ts';
