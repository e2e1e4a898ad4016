import { execute, sql, type Db } from '#lib/database/index.ts';
import type { ModelFailure } from './model-failure.ts';

/** Puts the fault of an attempt on its step, so that whoever looks at a run that retries sees why. */
export async function noteFailedAttempt(
  db: Db,
  step: { runId: string; index: number },
  fault: ModelFailure,
): Promise<void> {
  await execute(
    db,
    sql`
      update steps set error_message = ${fault.message}
      where run_id = ${step.runId} and index = ${step.index} and state = 'started'
    `,
  );
}
