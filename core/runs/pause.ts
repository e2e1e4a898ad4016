import { pauseRoutine, type Routine, type StopDeps } from '#core/routines/index.ts';
import { transaction } from '#lib/database/index.ts';
import type { AfterEndDeps } from './after-end.ts';
import { cancellation } from './ending.ts';
import { afterReplacing, cancelOpenRuns } from './replace.ts';

/**
 * Pauses a routine, and with `cancelRuns` stops its runs too, whoever started them and also when it was paused before.
 * @throws {AppError} `routine_not_found`, `routine_archived`
 */
export async function pauseWithRuns(
  deps: StopDeps & AfterEndDeps,
  input: { projectId: string; id: string; cancelRuns: boolean },
): Promise<Routine> {
  const { projectId, id, cancelRuns } = input;
  const routine = await pauseRoutine(deps, projectId, id);
  if (cancelRuns) {
    // Not in the transaction that holds the routine: a run that is ending holds its row and waits for the routine's.
    const cancelled = await transaction(deps.database, (tx) =>
      cancelOpenRuns(tx, [id], cancellation),
    );
    await afterReplacing(deps, cancelled);
  }
  return routine;
}
