export type { AfterEndDeps } from './after-end.ts';
export { WAITS, type Wait } from './admission/waiting-for.ts';
export { createAdmission, type Admission, type AdmissionReport } from './admission/admission.ts';
export { expireQueued } from './admission/expire.ts';
export {
  ANNOUNCE_EVERY_MS,
  announceSlots,
  withdrawSlots,
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
export { endRun, type EndRunDeps } from './end-run.ts';
export { cancellation, failure, type RunEnding } from './ending.ts';
export { createRunFeed, type RunFeed } from './feed.ts';
export type { RunEvent } from './follow.ts';
export { createModelCaller, type ModelCaller } from './model-call.ts';
export { ModelFailure, retryDelayMs } from './model-failure.ts';
export { recordFailedAttempt } from './record-failed-attempt.ts';
export { performModelStep, type ModelStepDeps } from './model-step.ts';
export type { StepOutcome } from './step-outcome.ts';
export { openRunEvents } from './open-events.ts';
export { listRuns, readRunDetail } from './queries.ts';
export { pauseWithRuns } from './pause.ts';
export { afterReplacing, replaceOpenRuns, type ReplacedRuns } from './replace.ts';
export { redeliverWebhook } from './redeliver-webhook.ts';
export type { Run, RunDetail, RunSummary, RunUsage, Step } from './run.ts';
export type { ToolRecord } from './tool-record.ts';
export { performToolStep, type ToolStepDeps, type ToolStepOutcome } from './tool-step.ts';
export { retryRun, startManualRun } from './start.ts';
export { stopRuns } from './stop.ts';
export { createQueuedRuns } from './queued-runs.ts';
export { skipUnwanted } from './unwanted.ts';
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
