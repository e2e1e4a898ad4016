export { forgetBudgetNotices, notifySpending } from './budgets.ts';
export { queueDigests } from './digest.ts';
export { queueProjectDigests } from './project-hour.ts';
export { notifyPaused, notifyRunEnded } from './run-ended.ts';
export { hasAudience, subscriptionOf, type Subscription } from './subscription.ts';
