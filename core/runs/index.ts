export { overBudget } from './budget.ts';
export { requestCancellation } from './cancel.ts';
export { cancellation, endRun, failure, type RunEnding } from './end-run.ts';
export { createRunEngine, type RunEngine, type StartableRun } from './engine.ts';
export { enqueueManualRun, retryRun, type EnqueuedRun } from './enqueue.ts';
export { createRunFeed, type RunFeed } from './feed.ts';
export { followRun, readEventId, type RunCursor, type RunEvent } from './follow.ts';
export { createModelCaller, type ModelCaller, type ModelCallerSettings } from './model-call.ts';
export { MAX_MODEL_ATTEMPTS, ModelFailure } from './model-failure.ts';
export { noteFailedAttempt } from './note-failure.ts';
export {
  performModelStep,
  type ModelStepDeps,
  type PerformedStep,
  type StepOutcome,
} from './model-step.ts';
export { BUILT_IN_VARIABLES, placeholdersOf, renderPrompt, unknownPlaceholders } from './prompt.ts';
export { listRuns, listSteps, readRun, readRunDetail, type RunFilter } from './queries.ts';
export type { Run, RunDetail, RunUsage, Step } from './run.ts';
export type { ToolAttachment, ToolRecord } from './tool-record.ts';
export { performToolStep, type ToolStepDeps, type ToolStepOutcome } from './tool-step.ts';
export {
  RUN_REASONS,
  RUN_STATES,
  RUN_TRANSITIONS,
  TRIGGERS,
  isEndState,
  type EndState,
  type RunReason,
  type RunState,
  type Trigger,
} from './states.ts';
