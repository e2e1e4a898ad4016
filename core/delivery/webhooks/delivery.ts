import { sql, type Db, type Sql } from '#lib/database/index.ts';
import { MAX_RETRY_AFTER_MS } from '#lib/outbound/index.ts';
import type { EventType } from './event.ts';

/**
 * A delivery is `pending` until its next attempt, `sending` while an attempt holds its lease, `delivered` after a 2xx,
 * and `failed` once it was given up for a reason.
 */
export type DeliveryState = 'pending' | 'sending' | 'delivered' | 'failed';

/** Reasons why a delivery is given up. The list is closed, so that clients can branch on a reason. */
export const FAILURE_REASONS = {
  gone: 'the receiver answered 410, so nothing more is sent to this URL',
  retries_exhausted: 'the last attempt of the retry schedule failed',
  webhook_removed: 'the routine no longer has a webhook URL',
  routine_archived: 'the routine was archived, so it sends nothing more',
} as const;
export type DeliveryFailure = keyof typeof FAILURE_REASONS;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Waits between attempts. The first attempt comes at once, the last about three days later. */
export const RETRY_LADDER_MS: readonly number[] = [
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];

export const MAX_ATTEMPTS = RETRY_LADDER_MS.length + 1;

/** Each wait varies by up to this fraction, so that deliveries that failed together are not retried together. */
const JITTER = 0.1;

/**
 * Returns the wait after a failed attempt (1 is the first), at least as long as the receiver asked for.
 * @returns undefined after the last attempt
 */
export function deliveryRetryMs(
  attempt: number,
  retryAfterMs = 0,
  random: () => number = Math.random,
): number | undefined {
  const wait = RETRY_LADDER_MS[attempt - 1];
  if (wait === undefined) return undefined;
  const jittered = wait * (1 - JITTER + 2 * JITTER * random());
  return Math.round(Math.max(jittered, Math.min(retryAfterMs, MAX_RETRY_AFTER_MS)));
}

export interface Delivery {
  readonly id: string;
  readonly eventType: EventType;
  readonly state: DeliveryState;
  readonly reason: DeliveryFailure | null;
  /** Time of the next attempt of a pending delivery; null in every other state. */
  readonly nextAttemptAt: Date | null;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
  /** Attempts, oldest first. */
  readonly attempts: readonly DeliveryAttempt[];
}

export interface DeliveryAttempt {
  /** Number of the attempt, from 1. */
  readonly index: number;
  readonly startedAt: Date;
  readonly durationMs: number | null;
  /** The receiver's HTTP status; null without a response. */
  readonly status: number | null;
  /** Reason for the missing response; null with a response, and during the attempt. */
  readonly error: string | null;
  /** The first 1,024 bytes of the response. */
  readonly responseExcerpt: string | null;
}

/** Lists the deliveries of a run with all their attempts, oldest first. The caller has read the run in its project. */
export async function listDeliveries(db: Db, runId: string): Promise<Delivery[]> {
  const deliveries = await db.rows<Omit<Delivery, 'attempts'>>`
    select id, event_type as "eventType", state, reason,
      case when state = 'pending' then next_attempt_at end as "nextAttemptAt",
      created_at as "createdAt", finished_at as "finishedAt"
    from webhook_deliveries where run_id = ${runId} order by id
  `;
  if (deliveries.length === 0) return [];
  const attempts = await db.rows<DeliveryAttempt & { deliveryId: string }>`
    select delivery_id as "deliveryId", index, started_at as "startedAt", duration_ms as "durationMs", status,
      error, response_excerpt as "responseExcerpt"
    from webhook_attempts where delivery_id = any(${deliveries.map(({ id }) => id)}) order by index
  `;
  return deliveries.map((delivery) => ({
    ...delivery,
    attempts: attempts.flatMap(({ deliveryId, ...attempt }) => (deliveryId === delivery.id ? [attempt] : [])),
  }));
}

/** SQL condition: the service has given up delivering the event of a run's end. */
export function hasLostDelivery(runId: Sql): Sql {
  return sql`exists (
    select from webhook_deliveries d
    where d.run_id = ${runId} and d.state = 'failed' and d.event_type like 'run.%')`;
}
