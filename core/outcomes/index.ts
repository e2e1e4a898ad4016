export { asksForCalls, countCalls } from './calls.ts';
export {
  type ChangeCounts,
  type Changes,
  type ComparedResult,
  WITHHELD,
  type Withheld,
  areNone,
  boundChanges,
  findChanges,
} from './changes.ts';
export { type Finish, readFinish } from './finish.ts';
export { type Items, readItems } from './items.ts';
export { type Evidence, judge } from './judge.ts';
export { type CheckResult, OUTCOMES, type Outcome, type RunOutcome } from './outcome.ts';
export { findPatterns } from './patterns.ts';
export { readData } from './read-data.ts';
export { REMINDER, textBeforeReminder, wasReminded } from './reminder.ts';
