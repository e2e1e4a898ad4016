export { asksForCalls, countCalls, findPatterns, lacksConnection } from './evidence.ts';
export {
  areNone,
  NO_CHANGES,
  compareWith,
  findChanges,
  type Changes,
  type ComparedResult,
  type DeliveredData,
} from './changes.ts';
export {
  type EndRule,
  type Finish,
  type NextRuns,
  readFinish,
  REMINDER,
  textBeforeReminder,
  wasReminded,
} from './finish.ts';
export { changesInWords, dataInWords, isOnlyData } from './in-words.ts';
export { type Items, readItems } from './items.ts';
export {
  type Evidence,
  decideChecks,
  type CheckResult,
  OUTCOMES,
  type Outcome,
  RUN_WARNINGS,
  type RunOutcome,
  type RunWarning,
  type Urgency,
  urgencyOf,
} from './checks.ts';
export { asksForRepair, readData, repairRequest, repairsText } from './read-data.ts';
