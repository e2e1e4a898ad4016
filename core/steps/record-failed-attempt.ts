import { row, sql, storable, type Db } from '#lib/database/index.ts';
import { remainingMsOf } from '#core/runs/index.ts';
import type { ModelFailure } from './model-failure.ts';

export interface FailedAttempts {
  /** Failed attempts of the step because of its provider, this one included. */
  readonly providerFailures: number;
  /** Milliseconds that the run has left. */
  readonly remainingMs: number;
}

/**
 * Records on the step that an attempt failed and why, so that a run which is being retried shows the reason. Counts
 * nothing where another attempt has recorded the step or the run has ended; the next attempt finds that out.
 */
export async function recordFailedAttempt(
  db: Db,
  step: { runId: string; index: number },
  failure: ModelFailure,
): Promise<FailedAttempts> {
  const counted = await row<FailedAttempts>(
    db,
    sql`
      update steps set error_message = ${storable(failure.told)}, provider_failures = provider_failures + 1
      from runs
      where run_id = ${step.runId} and index = ${step.index} and steps.state = 'started' and runs.id = run_id
      returning provider_failures as "providerFailures",
        ${remainingMsOf(sql`runs`)} as "remainingMs"
    `,
  );
  return counted ?? { providerFailures: 1, remainingMs: Number.POSITIVE_INFINITY };
}
