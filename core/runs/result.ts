import type { ComparedResult, Withheld } from '#core/outcomes/index.ts';
import type { DeliverPolicy } from '#core/routines/index.ts';
import { execute, sql, storableJson, type Db } from '#lib/database/index.ts';
import type { ResultData } from '../ending.ts';
import type { RunState } from '../states.ts';
import { compareWith } from './compare.ts';
import { findBaseline } from './last-delivered.ts';
import { withheldBy } from './withhold.ts';

/**
 * A run that the transaction has just ended. The transaction has locked the routine's row, so ends are compared one
 * after the other.
 */
export interface JustEnded {
  readonly id: string;
  readonly projectId: string;
  readonly routineId: string;
  readonly state: RunState;
  readonly outcome: string | null;
  readonly webhookUrl: string | null;
  readonly webhookFailedAt: Date | null;
  readonly deliver: DeliverPolicy;
}

export interface RecordedResult {
  readonly changes: ComparedResult | null;
  readonly withheld: Withheld | null;
}

/**
 * Records the data of a run that has just ended, what changed since the data delivered last, and whether the webhook is
 * told. Costs nothing where there is no data and the routine delivers everything.
 */
export async function recordResult(
  tx: Db,
  run: JustEnded,
  result: ResultData | undefined,
): Promise<RecordedResult> {
  const { id, projectId, routineId, state, outcome, deliver } = run;
  const hasWebhook = run.webhookUrl !== null && run.webhookFailedAt === null;
  if (result === undefined) {
    const withheld = hasWebhook ? withheldBy(deliver, { state, outcome, changes: null }) : null;
    if (withheld !== null) {
      await execute(tx, sql`update runs set withheld = ${withheld} where id = ${id}`);
    }
    return { changes: null, withheld };
  }
  const delivers = hasWebhook && deliver !== 'failed';
  const baseline = await findBaseline(tx, { id, projectId, routineId, delivers });
  const changes = compareWith(baseline, result.value, result.by);
  const withheld = hasWebhook ? withheldBy(deliver, { state, outcome, changes }) : 'no_webhook';
  const { against, unchangedRuns, ...kept } = changes;
  // The clock and not the beginning of the transaction, which may have waited for the routine.
  await execute(
    tx,
    sql`
      update runs set data = ${storableJson(result.value)}::jsonb, changes = ${storableJson(kept)}::jsonb,
        compared_with = ${against}, compared_at = clock_timestamp(), unchanged_runs = ${unchangedRuns}, withheld = ${withheld}
      where id = ${id}
    `,
  );
  return { changes, withheld };
}
