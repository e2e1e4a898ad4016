import type { EventType } from './event.ts';

/**
 * A delivery is `pending` until its next attempt, `sending` while an attempt holds its lease, `delivered` after a 2xx
 * and `failed` when it was given up, for a reason.
 */
export type DeliveryState = 'pending' | 'sending' | 'delivered' | 'failed';

/** Reasons why a delivery is given up: a closed list that users can switch on. */
export const FAILURE_REASONS = {
  gone: 'the receiver answered 410, so nothing more is sent to this URL',
  retries_exhausted: 'the last attempt of the retry schedule failed',
  webhook_removed: 'the routine no longer has a webhook URL',
} as const;
export type FailureReason = keyof typeof FAILURE_REASONS;

export interface Delivery {
  readonly id: string;
  readonly eventType: EventType;
  readonly state: DeliveryState;
  readonly reason: FailureReason | null;
  /** The time of the next attempt while the delivery is pending, else null. */
  readonly nextAttemptAt: Date | null;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
  /** Oldest first. */
  readonly attempts: readonly DeliveryAttempt[];
}

export interface DeliveryAttempt {
  /** Counts from 1. */
  readonly index: number;
  readonly startedAt: Date;
  readonly durationMs: number | null;
  /** The receiver's HTTP status; null without a complete response. */
  readonly status: number | null;
  /** The reason why there is no complete response; null when there is one, and while the attempt is under way. */
  readonly error: string | null;
  /** The first 1,024 bytes of the response. */
  readonly responseExcerpt: string | null;
}
