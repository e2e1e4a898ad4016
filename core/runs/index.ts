export {
  countWaitingBackfills,
  insertBackfill,
  readOnRecord,
  type BackfillRun,
} from './backfill.ts';
export { cancelRun, pauseWithRuns, stopRuns } from './cancel.ts';
export { expireQueued, releaseDue } from './due.ts';
export {
  afterEnd,
  endRun,
  outcomeOf,
  recordEnd,
  redeliverWebhook,
  type AfterEndDeps,
  type RecordedEnd,
} from './end-run.ts';
export { assertMayBeGiven, retryRun, startManualRun, type ManualRun } from './enqueue.ts';
export { insertOccurrences, type OccurrenceRow } from './occurrences.ts';
export { MAX_PINNED, pinRun, unpinRuns } from './pin.ts';
export { listRuns, listSteps, readRun, readRunDetail } from './queries.ts';
export { MAX_RECENT, listRecentRuns, type RoutineRecentRuns } from './recent.ts';
export { afterReplacing, inTheWay, replaceOpenRuns, type ReplacedRuns } from './replace.ts';
export { diffRun, type RunDiff } from './result.ts';
export {
  clockGoesOn,
  patienceMsOf,
  remainingMsOf,
  runColumns,
  scheduledFor,
  stepColumns,
  type Run,
  type RunDetail,
  type RunSummary,
  type RunUsage,
  type Step,
} from './run.ts';
export { sweepOpenRuns } from './sweep.ts';
export {
  followPause,
  followPausesByService,
  skipQueued,
  unwantedReason,
  type SkipNews,
  type UnwantedReason,
} from './unwanted.ts';
