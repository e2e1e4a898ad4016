export { createAccountCaller } from './account/caller.ts';
export {
  chooseCaller,
  createModelCaller,
  type ModelCall,
  type ModelCaller,
  type ModelResponse,
  type StepsCore,
} from './model-call.ts';
export { performModelStep } from './model-step.ts';
export { type Preview, previewRun } from './preview.ts';
export { ModelFailure, recordFailedAttempt, retryDelayMs, Stop, type StepOutcome } from './stop.ts';
export { performToolStep } from './tool-step.ts';
export type { ToolStepOutcome } from './tool-step-record.ts';
export { settleLostCalls } from './unanswered-calls.ts';
