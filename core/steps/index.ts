export { ABNORMAL_FROM_TOKENS } from './abnormal-cost.ts';
export { createAccountCaller } from './account/caller.ts';
export { AccountBlocked, AccountBusy } from './account/not-made.ts';
export { chooseCaller } from './choose-caller.ts';
export { settleLostCalls } from './lost-calls.ts';
export {
  type ModelCall,
  type ModelCaller,
  type ModelResponse,
  createModelCaller,
} from './model-call.ts';
export { ModelFailure, retryDelayMs } from './model-failure.ts';
export { type ModelStepDeps, performModelStep } from './model-step.ts';
export { countInput } from './model-usage.ts';
export { type Preview, previewRun } from './preview.ts';
export { recordFailedAttempt } from './record-failed-attempt.ts';
export type { StepOutcome } from './step-outcome.ts';
export { type ToolStepDeps, type ToolStepOutcome, performToolStep } from './tool-step.ts';
