export { type Admission, type AdmissionReport, createAdmission } from './admission/admission.ts';
export { expireQueued, releaseDue } from './admission/due.ts';
export { othersWait, waitsForBudget } from './admission/room.ts';
export {
  ANNOUNCE_EVERY_MS,
  type WorkerSlots,
  announceSlots,
  openRunsOfBuild,
  withdrawSlots,
  workersOfBuild,
} from './admission/slots.ts';
export { WAITS, type Wait } from './admission/waiting-for.ts';
export {
  type AfterEndDeps,
  afterEnd,
  endRun,
  outcomeOf,
  recordEnd,
  redeliverWebhook,
} from './end-run.ts';
export {
  type BackfillRun,
  countWaitingBackfills,
  insertBackfill,
  readOnRecord,
} from './backfill.ts';
export {
  accountOf,
  breakerAfterRun,
  breakerIsOpen,
  chooseProbes,
  forgetBreakers,
  lockOpenBreakers,
  openBreakers,
  takeProbes,
} from './breaker.ts';
export { cancelRun, pauseWithRuns, stopRuns } from './cancel.ts';
export {
  clockGoesOn,
  patienceMsOf,
  remainingMsOf,
  scheduledFor,
  type Run,
  type RunDetail,
  type RunSummary,
  type RunUsage,
  type Step,
} from './run.ts';
export {
  type RecordedEnd,
  type RunEnding,
  cancellation,
  failure,
  reasonAsMessage,
  skip,
  success,
} from './ending.ts';
export { type ManualRun, assertMayBeGiven, retryRun, startManualRun } from './enqueue.ts';
export {
  type Amount,
  ESTIMATE_BASES,
  ESTIMATE_PRICINGS,
  type RunEstimate,
  estimateRun,
  findQuoted,
  mostOfRun,
} from './estimate.ts';
export { STREAM_END_NAMES, type StreamEnd, type RunEvent, openRunEvents } from './events/follow.ts';
export { type RunFeed, createRunFeed } from './events/feed.ts';
export { forgetFollowers } from './events/leases.ts';
export { inTheWay, type ReplacedRuns, afterReplacing, replaceOpenRuns } from './replace.ts';
export { type OccurrenceRow, insertOccurrences } from './occurrences.ts';
export { MAX_PINNED, pinRun, unpinRuns } from './pin.ts';
export { listRuns, readRunDetail, listSteps } from './queries.ts';
export {
  type SkipNews,
  skipQueued,
  type UnwantedReason,
  unwantedReason,
  followPause,
  followPausesByService,
} from './unwanted.ts';
export { listRecentRuns, MAX_RECENT, type RoutineRecentRuns } from './recent.ts';
export { diffRun, type RunDiff } from './result.ts';
export {
  type RetentionDeps,
  type RetentionReport,
  applyRetention,
} from './retention/apply-retention.ts';
export { retentionBacklog } from './retention/due.ts';
export {
  FAILURE_CLASSES,
  type FailureClass,
  type FailureReason,
  RUN_REASONS,
  RUN_STATES,
  RUN_TRANSITIONS,
  type RunReason,
  type RunState,
  STEP_KINDS,
  STEP_STATES,
  STEP_WARNINGS,
  type StepWarning,
  TRIGGERS,
  type Trigger,
  WITHHELD,
  type Withheld,
  failureClassOf,
  isEndState,
  runStatesBefore,
} from './states.ts';
export { sweepOpenRuns } from './sweep.ts';
export { countRuns, medianOfVersion } from './version-usage.ts';
