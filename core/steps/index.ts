export { createAccountCaller } from './account/caller.ts';
export { settleLostCalls } from './lost-calls.ts';
export { createModelCaller } from './gateway/caller.ts';
export {
  chooseCaller,
  type ModelCall,
  type ModelCaller,
  type ModelResponse,
} from './model-call.ts';
export { ModelFailure, recordFailedAttempt, retryDelayMs } from './model-failure.ts';
export { type ModelStepDeps, performModelStep } from './model-step.ts';
export { countInput } from './model-usage.ts';
export { type Preview, previewRun } from './preview.ts';
export type { StepOutcome } from './step-outcome.ts';
export { Stop } from './stop.ts';
export { type ToolStepOutcome, performToolStep } from './tool-step.ts';
