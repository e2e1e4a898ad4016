import { ApplicationFailure, Context } from '@temporalio/activity';
import { cancellation, failure, type FailureReason } from '#core/execution/run-states/index.ts';
import { endRun } from '#core/execution/runs/index.ts';
import {
  ModelFailure,
  performModelStep,
  performToolStep,
  recordFailedAttempt,
  retryDelayMs,
  type StepOutcome,
  type StepsCore,
  type ToolStepOutcome,
} from '#core/execution/steps/index.ts';
import { withHeartbeat } from './heartbeat.ts';

export interface RunActivityDeps extends StepsCore {
  /** Pause before the second attempt at a model step; each further pause is twice as long. Default 2 s. */
  readonly firstPauseMs?: number;
}

export interface RunActivities {
  modelStep(input: { runId: string; index: number }): Promise<StepOutcome>;
  toolCall(input: { runId: string; index: number }): Promise<ToolStepOutcome>;
  concludeRun(input: { runId: string; ending: 'cancelled' | FailureReason }): Promise<void>;
}

/** Creates the activities of a run. A failure has a reason of the closed list as its type, and no text of a user. */
export function createRunActivities(deps: RunActivityDeps): RunActivities {
  return {
    async modelStep(input) {
      const { cancellationSignal } = Context.current();
      try {
        return await withHeartbeat(() => performModelStep(deps, input, cancellationSignal));
      } catch (error) {
        if (!(error instanceof ModelFailure)) throw error;
        const { reason, message, words } = error;
        deps.log.warn({ ...input, reason, words }, message);
        const step = await recordFailedAttempt(deps.database, input, error);
        const nextRetryDelay = retryDelayMs(error, step, deps.firstPauseMs);
        throw ApplicationFailure.create({
          type: reason,
          message,
          nonRetryable: nextRetryDelay === undefined,
          ...(nextRetryDelay !== undefined && { nextRetryDelay }),
        });
      }
    },
    async toolCall(input) {
      const { cancellationSignal } = Context.current();
      const started = performance.now();
      const outcome = await withHeartbeat(() => performToolStep(deps, input, cancellationSignal));
      const seconds = (performance.now() - started) / 1_000;
      if (outcome !== 'skipped') deps.metrics.toolCall({ outcome, seconds });
      return outcome;
    },
    async concludeRun({ runId, ending }) {
      await endRun(deps, runId, ending === 'cancelled' ? cancellation : failure(ending));
    },
  };
}
