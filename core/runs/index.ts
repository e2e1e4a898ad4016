export { type Admission, type AdmissionReport, createAdmission } from './admission/admission.ts';
export { expireQueued } from './admission/expire.ts';
export { releaseDue } from './admission/release.ts';
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
export { type AfterEndDeps, afterEnd } from './after-end.ts';
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
} from './breaker/index.ts';
export { cancelRun } from './cancel.ts';
export { clockGoesOn, patienceMsOf, remainingMsOf } from './clock.ts';
export { type EndRunDeps, endRun, recordEnd } from './end-run.ts';
export {
  type RecordedEnd,
  type RunEnding,
  cancellation,
  failure,
  reasonAsMessage,
  skip,
  success,
} from './ending.ts';
export { type ManualRun, assertMayBeGiven } from './enqueue.ts';
export {
  type Amount,
  ESTIMATE_BASES,
  ESTIMATE_PRICINGS,
  type RunEstimate,
  estimateRun,
  findQuoted,
  mostOfRun,
} from './estimate.ts';
export { type RunChanges, createRunChanges, isFollowed } from './events/changes.ts';
export { STREAM_END_NAMES, type StreamEnd } from './events/ends.ts';
export { type RunFeed, createRunFeed } from './events/feed.ts';
export type { RunEvent } from './events/follow.ts';
export { forgetFollowers } from './events/leases.ts';
export { openRunEvents } from './events/open.ts';
export { inTheWay } from './in-the-way.ts';
export { type OccurrenceRow, insertOccurrences } from './occurrences.ts';
export { outcomeOf } from './outcome-columns.ts';
export { pauseWithRuns } from './pause.ts';
export { MAX_PINNED, pinRun, unpinRuns } from './pin.ts';
export { listRuns, readRunDetail, scheduledFor } from './queries.ts';
export { createQueuedRuns } from './queued-runs.ts';
export { listRecentRuns, MAX_RECENT, type RoutineRecentRuns } from './recent.ts';
export { redeliverWebhook } from './redeliver-webhook.ts';
export { type ReplacedRuns, afterReplacing, replaceOpenRuns } from './replace.ts';
export { diffRun, type RunDiff } from './result.ts';
export {
  type RetentionDeps,
  type RetentionReport,
  applyRetention,
} from './retention/apply-retention.ts';
export { retentionBacklog } from './retention/overdue.ts';
export type { Run, RunDetail, RunSummary, RunUsage, Step } from './run.ts';
export { createServicePauses, followPause } from './service-pauses.ts';
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
  statesBefore,
} from './states.ts';
export { retryRun, startManualRun } from './start.ts';
export { listSteps } from './steps.ts';
export { stopRuns } from './stop.ts';
export { sweepOpenRuns } from './sweep.ts';
export { unwantedReason } from './unwanted.ts';
export { countRuns, medianOfVersion } from './version-usage.ts';
