export {
  assertMayActivate,
  effectivePlan,
  mayActivate,
  mayWrite,
  othersHaveRun,
  PAID_PLANS,
  paidPlanOf,
  PLANS,
  readPeriodUsage,
  runsAtATimeOf,
  runsExceeded,
  runsPerDay,
  takeOneRun,
  takeRuns,
  writeRefused,
  type PeriodUsage,
  type Plan,
  type PlanRule,
} from './plans.ts';
export { beginCheckout, checkoutBarrier } from './payment/checkout.ts';
export { createPayment, priceFaults, reportPriceFaults, type Payment } from './payment/payment.ts';
export { listCustomers, oldestUnsynced, requestSync, visitPortal } from './payment/customers.ts';
export { recordEvent, verifyEvent, type PaymentEvent } from './payment/events.ts';
export { connectProcessor, type Processor } from './payment/processor.ts';
export { keepPaymentsInStep } from './payment/reconcile.ts';
export { refreshWithin, syncOrganization, syncWithin } from './payment/sync.ts';
export { setUpProcessor } from './payment/setup.ts';
export { readBilling, type BillingSummary } from './payment/summary.ts';
