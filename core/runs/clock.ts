import { sql, type Sql } from '#lib/database/index.ts';

/** Returns the time since which a run's clock stands, or now while it goes, as an SQL expression. */
function stoppedAt(run: Sql): Sql {
  return sql`coalesce(${run}.waits_since, now())`;
}

/**
 * Returns the milliseconds that the clock of a run has left, as an SQL expression; not positive once its time is over.
 * The clock starts with the first step and stands still while the run waits for a budget.
 */
export function remainingMsOf(run: Sql): Sql {
  return sql`((${run}.timeout_seconds - extract(epoch from ${stoppedAt(run)} - ${run}.started_at)) * 1000
    + ${run}.waited_ms)::float8`;
}

/**
 * Returns the milliseconds that a run may still wait for a budget, as an SQL expression: in all as long as it might have
 * waited for its first step.
 */
export function patienceMsOf(run: Sql): Sql {
  return sql`(extract(epoch from coalesce(${run}.queue_until - coalesce(${run}.run_at, ${run}.created_at),
    interval '6 hours')) * 1000 - ${run}.waited_ms
    - extract(epoch from now() - ${stoppedAt(run)}) * 1000)::float8`;
}

/** Assignments for an update of `runs` that start the clock of a run that waited. */
export const clockGoesOn = sql`waited_ms = runs.waited_ms
            + coalesce((extract(epoch from now() - runs.waits_since) * 1000)::bigint, 0), waits_since = null`;
