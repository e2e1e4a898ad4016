export {
  countWaitingBackfills,
  insertBackfill,
  readOnRecord,
  type BackfillRun,
} from './backfill.ts';
export { ABNORMAL_FROM_TOKENS } from './abnormal-cost.ts';
export { createAccountCaller } from './account/caller.ts';
export { AccountBlocked, AccountBusy } from './account/not-made.ts';
export type { AfterEndDeps } from './after-end.ts';
export { WAITS, type Wait } from './admission/waiting-for.ts';
export { createAdmission, type Admission, type AdmissionReport } from './admission/admission.ts';
export { expireQueued } from './admission/expire.ts';
export { releaseDue } from './admission/release.ts';
export {
  ANNOUNCE_EVERY_MS,
  announceSlots,
  openRunsOfBuild,
  withdrawSlots,
  workersOfBuild,
  type WorkerSlots,
} from './admission/slots.ts';
export {
  accountOf,
  breakerIsOpen,
  chooseProbes,
  forgetBreakers,
  lockOpenBreakers,
  openBreakers,
  takeProbes,
} from './breaker/index.ts';
export { cancelRun } from './cancel.ts';
export { chooseCaller } from './choose-caller.ts';
export { endRun } from './end-run.ts';
export { OUTCOMES, type Outcome, type RunOutcome } from './outcome/outcome.ts';
export { cancellation, failure, reasonAsMessage, type RunEnding } from './ending.ts';
export {
  ESTIMATE_BASES,
  ESTIMATE_PRICINGS,
  estimateRun,
  type Amount,
  type RunEstimate,
} from './estimate.ts';
export { createRunChanges, type RunChanges } from './events/changes.ts';
export { STREAM_END_NAMES, type StreamEnd } from './events/ends.ts';
export { createRunFeed, type RunFeed } from './events/feed.ts';
export type { RunEvent } from './events/follow.ts';
export { forgetFollowers } from './events/leases.ts';
export { openRunEvents } from './events/open.ts';
export { STEP_WARNINGS } from './warnings.ts';
export {
  createModelCaller,
  type ModelCall,
  type ModelCaller,
  type ModelResponse,
} from './model-call.ts';
export { countInput } from './model-usage.ts';
export { ModelFailure, retryDelayMs } from './model-failure.ts';
export { recordFailedAttempt } from './record-failed-attempt.ts';
export { performModelStep, type ModelStepDeps } from './model-step.ts';
export type { StepOutcome } from './step-outcome.ts';
export { forgetSeen, GATE_REASONS, type GateReason, type GateVerdict } from './gate/index.ts';
export { fence } from './fence.ts';
export { PREAMBLE } from './opening.ts';
export { renderPrompt } from './prompt.ts';
export { insertOccurrences, type OccurrenceRow } from './occurrences.ts';
export { listRuns, readRunDetail } from './queries.ts';
export { previewRun, type Preview } from './preview.ts';
export { listRecentRuns, MAX_RECENT, type RoutineRecentRuns } from './recent.ts';
export { pauseWithRuns } from './pause.ts';
export { MAX_PINNED, pinRun, unpinRuns } from './pin.ts';
export { retentionBacklog } from './retention/overdue.ts';
export {
  applyRetention,
  type RetentionDeps,
  type RetentionReport,
} from './retention/apply-retention.ts';
export { afterReplacing, replaceOpenRuns, type ReplacedRuns } from './replace.ts';
export { redeliverWebhook } from './redeliver-webhook.ts';
export { diffRun, type RunDiff } from './result/diff.ts';
export type { Run, RunDetail, RunSummary, RunUsage, Step } from './run.ts';
export type { ToolRecord } from './tool-record.ts';
export { performToolStep, type ToolStepDeps, type ToolStepOutcome } from './tool-step.ts';
export { retryRun, startManualRun } from './start.ts';
export { stopRuns } from './stop.ts';
export { createQueuedRuns } from './queued-runs.ts';
export { inTheWay } from './in-the-way.ts';
export { createServicePauses, followPause } from './service-pauses.ts';
export { settleLostCalls } from './lost-calls.ts';
export { listSteps } from './steps.ts';
export { sweepOpenRuns } from './sweep.ts';
export { countRuns, MEDIAN_OF_RUNS } from './version-usage.ts';
export {
  FAILURE_CLASSES,
  RUN_REASONS,
  RUN_STATES,
  RUN_TRANSITIONS,
  STEP_KINDS,
  STEP_STATES,
  TRIGGERS,
  failureClassOf,
  isEndState,
  type FailureClass,
  type FailureReason,
  type RunReason,
  type RunState,
} from './states.ts';
