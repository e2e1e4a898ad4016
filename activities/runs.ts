import { ApplicationFailure, Context } from '@temporalio/activity';
import {
  cancellation,
  endRun,
  failure,
  MAX_MODEL_ATTEMPTS,
  ModelFailure,
  noteFailedAttempt,
  performModelStep,
  performToolStep,
  type ModelStepDeps,
  type RunEngine,
  type RunReason,
  type StepOutcome,
  type ToolStepDeps,
  type ToolStepOutcome,
} from '#core/runs/index.ts';
import { kickDelivery, type PendingDelivery } from '#core/webhooks/index.ts';
import { transaction } from '#lib/database/index.ts';
import { withHeartbeat } from './heartbeat.ts';

export interface RunActivityDeps extends ModelStepDeps, ToolStepDeps {
  readonly engine: RunEngine;
}

export interface RunActivities {
  modelStep(input: { runId: string; index: number }): Promise<StepOutcome>;
  toolCall(input: { runId: string; index: number }): Promise<ToolStepOutcome>;
  concludeRun(input: { runId: string; ending: 'cancelled' | RunReason }): Promise<void>;
}

/** The steps of a run. Errors carry a reason of the closed list as their type and never a text of the user's. */
export function createRunActivities(deps: RunActivityDeps): RunActivities {
  const deliver = async (delivery: PendingDelivery | undefined) => {
    if (delivery !== undefined) await kickDelivery(deps.engine, delivery, deps.log);
  };
  return {
    async modelStep(input) {
      const { cancellationSignal } = Context.current();
      try {
        const { outcome, delivery, ended } = await withHeartbeat(() =>
          performModelStep(deps, input, cancellationSignal),
        );
        if (ended !== undefined) deps.metrics.runEnded(ended);
        await deliver(delivery);
        return outcome;
      } catch (error) {
        if (!(error instanceof ModelFailure)) throw error;
        await noteFailedAttempt(deps.database, input, error);
        throw toApplicationFailure(error);
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
      const how = ending === 'cancelled' ? cancellation : failure(ending);
      const { ended, delivery } = await transaction(deps.database, (tx) => endRun(tx, runId, how));
      if (ended) deps.metrics.runEnded(how);
      await deliver(delivery);
    },
  };
}

function toApplicationFailure(error: ModelFailure): ApplicationFailure {
  return ApplicationFailure.create({
    type: error.reason,
    message: error.message,
    nonRetryable: !error.retryable || Context.current().info.attempt >= MAX_MODEL_ATTEMPTS,
    ...(error.retryAfterMs === undefined ? {} : { nextRetryDelay: error.retryAfterMs }),
  });
}
