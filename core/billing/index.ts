export {
  assertMayActivate,
  mayActivate,
  runsExceeded,
  takeOneRun,
  takeRuns,
} from './allowances.ts';
export {
  effectivePlan,
  mayWrite,
  PLANS,
  runsAtATimeOf,
  type Plan,
  type PlanRule,
} from './plans.ts';
