export { cancelRun, pauseWithRuns, stopRuns } from './cancel.ts';
export { endedColumns, endRun, followEnd, outcomeOf, recordEnd, type EndDeps, type EndedRun } from './end-run.ts';
export { retryRun, startFollowUp } from './follow-up.ts';
export * as starts from './enqueue.ts';
export * as occurrences from './occurrences.ts';
export * as keeping from './keeping.ts';
export { listSteps } from './read-steps.ts';
export { listRuns } from './list.ts';
export { readEndedResult, readRun, readRunDetail } from './queries.ts';
export { MAX_RECENT, listRecentRuns } from './recent.ts';
export * as proofs from './proposals.ts';
export { inTheWay, replaceOpenRuns } from './replace.ts';
export { diffRun, giveVerdict } from './result.ts';
export {
  addUsage,
  runClock,
  runColumns,
  scheduledFor,
  stepColumns,
  unwantedReason,
  type Run,
  type RunDetail,
  type RunSummary,
} from './run.ts';
export { expireQueued, sweepOpenRuns } from './sweep.ts';
export { followPauses, skipQueued } from './unwanted.ts';
