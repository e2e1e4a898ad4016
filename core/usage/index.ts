export { isSettled, releaseAttempt, settlement, type Attempt, type Spent } from './settle.ts';
export {
  budgetColumns,
  isLimited,
  LIMIT_NAMES,
  LIMIT_SCOPES,
  limitInWords,
  limitsOf,
  RAISED_BY,
  tooLittleLeft,
  type Budgets,
  type LimitName,
  type LimitScope,
  type OperatorCap,
  type ScopeLimits,
} from './budget.ts';
export { chargeBeforehand, readLimits, settleCharge, type Charge } from './charge.ts';
export type { Budget } from '#core/identity/index.ts';
export {
  forgetUsage,
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
export {
  dayOfRunningOut,
  PACE_DAYS,
  readSpending,
  sharesUsed,
  type Draw,
  type ForecastDay,
  type ScopeSpending,
  type ShareUsed,
  type Spending,
} from './spending.ts';
export { reserve } from './reserve.ts';
export { MIN_OUTPUT_TOKENS, overBudget, type PassedLimit } from './totals.ts';
export {
  costOf,
  estimatedTokens,
  tokenCount,
  tokensAtLeast,
  totalTokens,
  type LongPrices,
  type Prices,
  type Usage,
} from './usage.ts';
