import type { ActivityOptions } from '@temporalio/common';

/** Time without a heartbeat after which a worker counts as dead. Heartbeats are sent every 3 s, so two may be lost. */
const HEARTBEAT_TIMEOUT = '10s';

/** Enough attempts for some minutes without Postgres. A permanent error ends the activity before the run's timeout. */
const MAX_ATTEMPTS = 60;

/** Time after a run's deadline in which the step itself ends the run. If the worker cannot, Temporal ends the step. */
const GRACE_MS = 30_000;

/**
 * Returns the policy of a model step. The step is retried, after the provider's own delay if there is one, until the
 * activity marks the error as final. The first step waits for a slot without a limit, because the run's clock starts
 * with it. The limit of later steps includes their wait.
 */
export function modelStepPolicy(
  { timeoutSeconds, deadline }: { timeoutSeconds: number; deadline: number | undefined },
  summary: string,
): ActivityOptions {
  return {
    startToCloseTimeout: timeoutSeconds * 1_000 + GRACE_MS,
    ...(deadline === undefined ? {} : { scheduleToCloseTimeout: msUntil(deadline) + GRACE_MS }),
    heartbeatTimeout: HEARTBEAT_TIMEOUT,
    retry: {
      initialInterval: '2s',
      backoffCoefficient: 2,
      maximumInterval: '30s',
      maximumAttempts: MAX_ATTEMPTS,
    },
    summary,
  };
}

/**
 * Returns the policy of a tool call. A failed call is a recorded result, so the activity is retried only when its
 * worker died or could not write; the record then decides whether the call itself is repeated. The deadlines of a call
 * add up to three minutes at most.
 */
export function toolCallPolicy(deadline: number, summary: string): ActivityOptions {
  return {
    scheduleToCloseTimeout: msUntil(deadline),
    startToCloseTimeout: '5m',
    heartbeatTimeout: HEARTBEAT_TIMEOUT,
    retry: {
      initialInterval: '1s',
      backoffCoefficient: 2,
      maximumInterval: '30s',
      maximumAttempts: MAX_ATTEMPTS,
    },
    summary,
  };
}

function msUntil(deadline: number): number {
  return Math.max(deadline - Date.now(), 1);
}

/** Policy of the write that ends a run. The write is retried for long, because the run would never end without it. */
export const concludePolicy: ActivityOptions = {
  startToCloseTimeout: '30s',
  retry: {
    initialInterval: '1s',
    backoffCoefficient: 2,
    maximumInterval: '30s',
    maximumAttempts: 200,
  },
  summary: 'conclude',
};

/**
 * Policy of an approved action. The action is retried only when its worker died or could not write. The record then
 * decides whether the call may be made.
 */
export const heldActionPolicy: ActivityOptions = {
  startToCloseTimeout: '5m',
  heartbeatTimeout: HEARTBEAT_TIMEOUT,
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s', maximumAttempts: 10 },
};

/** The policy of the scheduler's activities. The activities are not retried: the next minute is the retry. */
export const tickPolicy: ActivityOptions = {
  startToCloseTimeout: '5m',
  scheduleToStartTimeout: '1m',
  heartbeatTimeout: HEARTBEAT_TIMEOUT,
  retry: { maximumAttempts: 1 },
};
