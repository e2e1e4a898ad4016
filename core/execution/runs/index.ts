export { countWaitingBackfills, insertBackfill, readOnRecord } from './occurrences.ts';
export { cancelRun, pauseWithRuns, stopRuns } from './cancel.ts';
export {
  afterEnd,
  endRun,
  outcomeOf,
  recordEnd,
  redeliverChat,
  redeliverWebhook,
  type EndDeps,
  type EndedRun,
} from './end-run.ts';
export { assertMayBeGiven, retryRun, startManualRun } from './enqueue.ts';
export { insertOccurrences, type OccurrenceRow } from './occurrences.ts';
export { listRuns } from './list.ts';
export { listSteps, readRun, readRunDetail } from './queries.ts';
export { MAX_RECENT, listRecentRuns } from './recent.ts';
export { inTheWay, replaceOpenRuns } from './replace.ts';
export { diffRun } from './result.ts';
export { runClock, runColumns, scheduledFor, stepColumns, type Run, type RunDetail, type RunSummary } from './run.ts';
export { expireQueued, sweepOpenRuns } from './sweep.ts';
export { followPauses, skipQueued, unwantedReason, type PauseDeps } from './unwanted.ts';
