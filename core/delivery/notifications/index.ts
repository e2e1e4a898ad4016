export { forgetBudgetNotices, noteSpending, notifySpending, spendingKind } from './budgets.ts';
export { noteEnd, notifyAsked, notifyPaused, runEndedKind, tellOfHeldCalls } from './run-ended.ts';
export { queueSummaries, summaryKind } from './summary.ts';
