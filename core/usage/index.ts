export type { Attempt } from './attempt.ts';
export {
  budgetColumns,
  isLimited,
  limitsOf,
  type Budgets,
  type OperatorCap,
  type ScopeLimits,
} from './budget.ts';
export { chargeBeforehand, readLimits, settleCharge, type Charge } from './charge.ts';
export type { Budget } from '#core/identity/index.ts';
export {
  LIMIT_NAMES,
  LIMIT_SCOPES,
  limitInWords,
  RAISED_BY,
  tooLittleLeft,
  type LimitName,
  type LimitScope,
} from './limit-names.ts';
export { forgetDays, forgetLedger } from './forget.ts';
export {
  MAX_USAGE_GROUPS,
  MAX_USAGE_PARTS,
  readDailyParts,
  readUsage,
  USAGE_GROUPS,
  USAGE_PARTS,
  type DayPart,
  type UsageSum,
} from './history.ts';
export { findLostCalls, lockLostCall, lostKey, type LostInput } from './lost-calls.ts';
export { releaseAttempt } from './release.ts';
export { dayOfRunningOut, type Draw, type ForecastDay } from './run-out.ts';
export { reserve } from './reserve.ts';
export { sharesUsed, type ShareUsed } from './share-used.ts';
export { isSettled, settlement, type Spent } from './settle.ts';
export { PACE_DAYS, readSpending, type ScopeSpending, type Spending } from './spending.ts';
export { MIN_OUTPUT_TOKENS, overBudget, type PassedLimit } from './totals.ts';
export {
  costOf,
  estimatedTokens,
  tokensAtLeast,
  tokenCount,
  totalTokens,
  type LongPrices,
  type Prices,
  type Usage,
} from './usage.ts';
