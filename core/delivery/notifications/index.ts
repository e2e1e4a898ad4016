export { forgetBudgetNotices, notifySpending, spendingKind } from './budgets.ts';
export { noteEnd, noteSpending } from './notes.ts';
export { notifyAsked, notifyPaused, runEndedKind, tellOfHeldCalls } from './run-ended.ts';
export { queueSummaries, summaryKind } from './summary.ts';
