import type { EventType } from './event.ts';

/**
 * `pending`: waits for its next attempt. `sending`: an attempt holds it until its lease runs out. `delivered`: the
 * receiver answered 2xx. `failed`: given up, for a reason.
 */
export type DeliveryState = 'pending' | 'sending' | 'delivered' | 'failed';

/** Why a delivery was given up: a closed list that users can switch on. */
export const FAILURE_REASONS = {
  gone: 'the receiver answered 410, so nothing more is sent to this URL',
  retries_exhausted: 'the last attempt of the retry schedule failed',
  webhook_removed: 'the routine no longer has a webhook URL',
} as const;
export type FailureReason = keyof typeof FAILURE_REASONS;

/** What starting a delivery's workflow takes. `attempt` is the number of the attempt to come. */
export interface PendingDelivery {
  readonly id: string;
  readonly attempt: number;
  readonly projectId: string;
}

export interface Delivery {
  readonly id: string;
  readonly eventType: EventType;
  readonly state: DeliveryState;
  readonly reason: FailureReason | null;
  /** When the next attempt is due, while the delivery is pending. */
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
  /** The receiver's HTTP status; null when there was no complete answer. */
  readonly status: number | null;
  /** Why there was no complete answer; null when there was one, and while the attempt is under way. */
  readonly error: string | null;
  /** The first 1,024 bytes of the answer. */
  readonly responseExcerpt: string | null;
}
