import type { Actor } from '#core/audit/index.ts';
import { pauseRoutine, type Routine, type StopDeps } from '#core/routines/index.ts';
import type { AfterEndDeps } from './after-end.ts';
import { stopRuns } from './stop.ts';

/**
 * Pauses a routine, and with `cancelRuns` cancels its open runs too, whatever started them, also when it was paused
 * before.
 * @throws {AppError} `routine_not_found`, `routine_archived`
 */
export async function pauseWithRuns(
  deps: StopDeps & AfterEndDeps,
  by: Actor,
  input: { projectId: string; id: string; cancelRuns: boolean },
): Promise<Routine> {
  const { projectId, id, cancelRuns } = input;
  const routine = await pauseRoutine(deps, by, projectId, id);
  // Not in the transaction that holds the routine: a run that is ending holds its row and waits for the routine's.
  if (cancelRuns) await stopRuns(deps, [id]);
  return routine;
}
