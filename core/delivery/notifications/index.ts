export { forgetBudgetNotices, notifySpending } from './budgets.ts';
export { queueDigests, queueProjectDigests } from './digest.ts';
export { notifyPaused, notifyRunEnded } from './run-ended.ts';
export { hasAudience, subscriptionOf, type Subscription } from './subscription.ts';
