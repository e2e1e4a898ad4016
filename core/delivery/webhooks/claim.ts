import { sql, type Db } from '#lib/database/index.ts';

// All times are those of the database: workers' clocks may differ.

/** Time for a delivery's workflow to start: less than the minute between ticks, so that the next tick tries again. */
export const START_LEASE = sql`interval '55 seconds'`;

/** How long an attempt holds its delivery: longer than the activity may take, so its end means a lost worker. */
const SENDING_LEASE = sql`interval '60 seconds'`;

/** An attempt that is leased to the caller. */
export interface ClaimedAttempt {
  readonly deliveryId: string;
  readonly projectId: string;
  readonly routineId: string;
  /** Null for an event that belongs to no run. */
  readonly runId: string | null;
  readonly body: string;
  /** Counts all attempts of the delivery, from 1. */
  readonly index: number;
  /** Counts the attempts of the current retry schedule, from 1. */
  readonly rung: number;
  readonly startedAt: Date;
  /** True for a run that ended after its routine was archived. */
  readonly isArchived: boolean;
  /** The present webhook of the routine, which may have changed since the run ended. */
  readonly webhookUrl: string | null;
  readonly sealedSecret: string | null;
  /** The secret before the last rotation; null once it is no longer valid. */
  readonly sealedPreviousSecret: string | null;
}

/**
 * Claims a delivery for one attempt and records it in one statement. If the process dies, the lease ends.
 * @param after number of the caller's own attempt that broke off, whose lease it takes over
 * @returns undefined when no attempt is due: the delivery waits, is being sent by another worker, is over, or unknown
 */
export function claimAttempt(db: Db, deliveryId: string, after?: number): Promise<ClaimedAttempt | undefined> {
  return db.row<ClaimedAttempt>`
    with claimed as (
      update webhook_deliveries set
        state = 'sending', attempt_count = attempt_count + 1, claimed_until = now() + ${SENDING_LEASE}
      where id = ${deliveryId} and (
        (state = 'pending' and next_attempt_at <= now()) or (state = 'sending' and (claimed_until <= now()
        or attempt_count = ${after ?? null}::integer))
      )
      returning *
    ), crashed as (
      update webhook_attempts a set error = ${CRASHED}
      from claimed
      where a.delivery_id = claimed.id and a.index = claimed.attempt_count - 1
        and a.status is null and a.error is null
    ), attempt as (
      insert into webhook_attempts (delivery_id, index, started_at)
      select id, attempt_count, now() from claimed
      returning started_at
    )
    select d.id as "deliveryId", d.project_id as "projectId", d.routine_id as "routineId", d.run_id as "runId",
      d.body, d.attempt_count as index, d.attempt_count - d.ladder_offset as rung,
      attempt.started_at as "startedAt", r.state = 'archived' as "isArchived", r.webhook_url as "webhookUrl", r.webhook_secret as "sealedSecret",
      case when r.webhook_secret_previous_until > now() then r.webhook_secret_previous end
        as "sealedPreviousSecret"
    from claimed d cross join attempt join routines r on r.id = d.routine_id
  `;
}

const CRASHED = 'the service broke it off; whether the receiver got it is unknown';
