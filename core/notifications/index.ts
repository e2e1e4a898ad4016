export { forgetBudgetNotices } from './budgets.ts';
export { queueDigests } from './digest.ts';
export { queueProjectDigests } from './project-hour.ts';
export { notifyPaused } from './paused.ts';
export { notifyRunEnded } from './run-ended.ts';
export { notifySpending } from './spending.ts';
export { hasAudience, subscriptionOf, type Subscription } from './subscription.ts';
