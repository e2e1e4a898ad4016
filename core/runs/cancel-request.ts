import { sql, type Sql } from '#lib/database/index.ts';
import { replacement, type RunEnding } from './ending.ts';

/**
 * Asks an open run to stop, and says why: assignments for an update of `runs`. The first request counts; a person who
 * cancels a run that is already being replaced changes nothing.
 */
export function askedToStop({ reason }: Pick<RunEnding, 'reason'>): Sql {
  return sql`cancel_requested_at = coalesce(cancel_requested_at, now()),
        cancel_reason = case when cancel_requested_at is null then ${reason} else cancel_reason end`;
}

/**
 * Returns the reason with which a run ends, as an SQL expression on `runs`. One that was cancelled ends for the reason
 * of the request, which whoever obeys it need not know.
 */
export function reasonAtEnd({ state, reason }: Pick<RunEnding, 'state' | 'reason'>): Sql {
  return state === 'cancelled'
    ? sql`coalesce(runs.cancel_reason, ${reason})`
    : sql`${reason}::text`;
}

/** Returns the error message with which a run ends, as an SQL expression on `runs`; it goes with the reason. */
export function messageAtEnd({ state, errorMessage }: RunEnding): Sql {
  return state === 'cancelled'
    ? sql`case runs.cancel_reason when ${replacement.reason} then ${replacement.errorMessage}
            else ${errorMessage} end`
    : sql`${errorMessage}::text`;
}
