import type { NextRuns, Outcome, RunWarning } from '#core/authoring/outcomes/index.ts';
import { sql, type Sql } from '#lib/database/index.ts';
import { routineStatesBefore } from './states.ts';

/**
 * Updates the routine of a run that ends: last run, failures in a row, the pause after too many. This piece of the
 * statement that ends the run reads the CTE `ended` (`routine_id`, `routine_revision`, `trigger`). The CTE `routine`
 * returns `name`, `webhook_url`, `webhook_failed_at`, `deliver`, `state_reason`, and `paused`: whether this run paused
 * the routine.
 * @param end.ownFault whether a failure is the routine's own fault. Other failures neither count nor clear the count
 * @param end.next what a successful run asks of later runs; it applies if the run was scheduled and of the present
 * version
 * @param end.warnings missing tools or texts of a success; a success without its tools neither counts nor clears the
 * count
 */
export function routineAfterRun(end: {
  readonly state: 'succeeded' | 'failed' | 'cancelled' | 'skipped';
  readonly ownFault: boolean;
  readonly outcome?: Outcome;
  readonly warnings?: readonly RunWarning[] | undefined;
  readonly next?: NextRuns | undefined;
}): Sql {
  // A skipped run has not run, so nothing is counted and no mail is sent.
  if (end.state === 'skipped') {
    return sql`routine as (select null::text as name, null::text as webhook_url,
        null::timestamptz as webhook_failed_at, null::text as deliver, null::text as state_reason, false as paused)`;
  }
  if (end.state === 'failed' && end.ownFault) {
    const because = sql`'paused after ' || r.pause_after_failures || ' failed runs in a row'`;
    return withPause({ failures: counted, pauses, because, notBefore: sql`r.not_before` });
  }
  const failures =
    end.state === 'succeeded' && (end.warnings ?? []).length === 0
      ? sql`case when ended.trigger = 'schedule' then 0 else r.consecutive_failures end`
      : sql`r.consecutive_failures`;
  // Ignore requests of a run with a partial result.
  if (end.state === 'succeeded' && end.next !== undefined && end.outcome !== 'partial') {
    const { final, notBefore } = end.next;
    const heeded = sql`(ended.trigger = 'schedule' and r.state = any(${routineStatesBefore('paused', 'service')})
            and r.revision = ended.routine_revision)`;
    return withPause({
      failures,
      pauses: sql`(${final} and ${heeded})`,
      because: sql`${COMPLETED}::text`,
      notBefore: sql`case when ${heeded} then coalesce(${notBefore}::timestamptz, r.not_before) else r.not_before end`,
    });
  }
  return sql`routine as (
        update routines r set last_run_at = now(), consecutive_failures = ${failures}
        from ended where r.id = ended.routine_id
        returning r.name, r.webhook_url, r.webhook_failed_at, r.deliver, r.state_reason, false as paused
      )`;
}

/** Counts the failures in a row of scheduled runs. Runs that people start neither count nor clear the count. */
const counted = sql`case when ended.trigger = 'schedule' then r.consecutive_failures + 1
            else r.consecutive_failures end`;

const pauses = sql`(ended.trigger = 'schedule' and r.state = any(${routineStatesBefore('paused', 'service')})
            and r.consecutive_failures + 1 >= r.pause_after_failures)`;

/** State reason of a routine whose last run declared the work complete. Clients can branch on this word. */
const COMPLETED = 'completed';

/**
 * Updates the routine, and pauses the routine if `to.pauses` holds. The routine is locked before the update, so that
 * exactly one of two runs that end at the same time pauses it.
 */
function withPause(to: { failures: Sql; pauses: Sql; because: Sql; notBefore: Sql }): Sql {
  const { failures, pauses: when, because, notBefore } = to;
  return sql`before as (
        select r.id, r.state from ended join routines r on r.id = ended.routine_id for no key update of r
      ), routine as (
        update routines r set
          last_run_at = now(),
          consecutive_failures = ${failures},
          not_before = ${notBefore},
          state = case when ${when} then 'paused' else r.state end,
          state_reason = case when ${when} then ${because} else r.state_reason end,
          next_run_at = case when ${when} then null else r.next_run_at end,
          version = case when ${when} then r.version + 1 else r.version end
        from ended, before where r.id = before.id
        returning r.name, r.webhook_url, r.webhook_failed_at, r.deliver, r.state_reason,
          before.state <> 'paused' and r.state = 'paused' as paused
      )`;
}
