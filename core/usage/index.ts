export {
  LIMIT_NAMES,
  LIMIT_SCOPES,
  MIN_OUTPUT_TOKENS,
  RAISED_BY,
  budgetColumns,
  isLimited,
  leastOf,
  limitInWords,
  limitsOf,
  overBudget,
  tooLittleLeft,
  type Budgets,
  type LimitName,
  type LimitScope,
  type OperatorCap,
  type PassedLimit,
  type ScopeLimits,
} from './budget.ts';
export { spendBesideRuns, type SpentBesideRuns } from './charge.ts';
export {
  MAX_USAGE_GROUPS,
  MAX_USAGE_PARTS,
  USAGE_GROUPS,
  USAGE_PARTS,
  forgetUsage,
  readDailyParts,
  readUsage,
} from './history.ts';
export { reserve } from './reserve.ts';
export {
  findLostCalls,
  isSettled,
  lockLostCall,
  releaseAttempt,
  settlement,
  type Attempt,
  type Spent,
} from './settle.ts';
export { PACE_DAYS, readSpending, sharesUsed, spentBudgets, type Spending } from './spending.ts';
