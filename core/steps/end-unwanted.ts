import type { UnwantedReason } from '#core/routines/index.ts';
import { row, sql } from '#lib/database/index.ts';
import { endRun, type EndRunDeps, skip, unwantedReason } from '#core/runs/index.ts';
import type { StepOutcome } from './step-outcome.ts';

/**
 * Skips a run that was about to begin although its routine has been paused, changed or archived.
 * @returns undefined when the run is still wanted, or has begun
 */
export async function endUnwanted(
  deps: EndRunDeps,
  runId: string,
): Promise<StepOutcome | undefined> {
  const found = await row<{ reason: UnwantedReason | 'provider_unavailable' | null }>(
    deps.database,
    sql`
      select ${unwantedReason} as reason from runs join routines r on r.id = runs.routine_id
      where runs.id = ${runId}
    `,
  );
  if (found === undefined || found.reason === null) return undefined;
  await endRun(deps, runId, skip(found.reason));
  return { next: 'ended', state: 'skipped' };
}
