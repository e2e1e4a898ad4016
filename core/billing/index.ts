export { assertMayActivate, runsExceeded, takeOneRun, takeRuns } from './allowances.ts';
export { effectivePlan, mayWrite, PLANS, type Plan, type PlanRule } from './plans.ts';
