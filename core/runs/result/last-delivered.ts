import type { ResultKey } from '#core/routines/index.ts';
import { hasLostDelivery } from '#core/webhooks/index.ts';
import { row, sql, type Db } from '#lib/database/index.ts';

/** Data with which a new result is compared. */
export interface Baseline {
  /** The run with which it was delivered. */
  readonly against: string;
  readonly data: unknown;
  readonly by: ResultKey | null;
  /** Consecutive runs without a change since. */
  readonly unchangedRuns: number;
}

/** Runs that are searched: where the receiver has missed more consecutive deliveries, everything is new to it again. */
const MAX_LOOKED_AT = 200;

/**
 * Finds the data that was delivered last. A run whose delivery was given up does not count, nor one that ended while
 * nothing was to be delivered. One that brought no change stands for the run that it was compared with: its data is the
 * same, and is kept longer.
 * @param run.delivers whether the webhook is told of results; where it is not, every run counts as delivered
 */
export function findBaseline(
  tx: Db,
  run: { id: string; projectId: string; routineId: string; delivers: boolean },
): Promise<Baseline | undefined> {
  return row<Baseline>(
    tx,
    sql`
      select anchor as against, data, by, case when unchanged then unchanged_runs else 0 end as "unchangedRuns"
      from (
        select id, data, compared_at, changes->'by' as by, unchanged_runs, withheld,
          compared_with is not null and changes->'counts' = ${NONE}::jsonb as unchanged,
          case when withheld = 'no_change' then compared_with else id end as anchor
        from runs
        where routine_id = ${run.routineId} and project_id = ${run.projectId} and data is not null and id <> ${run.id}
        order by compared_at desc limit ${MAX_LOOKED_AT}
      ) earlier
      where not ${run.delivers}::boolean or (
        (withheld is null or withheld = 'no_change') and not ${hasLostDelivery(sql`anchor`)})
      order by compared_at desc limit 1
    `,
  );
}

const NONE = JSON.stringify({ added: 0, removed: 0, changed: 0 });
