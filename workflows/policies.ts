import type { ActivityOptions } from '@temporalio/common';

/** A beat every 3 s may be missed twice before the worker counts as dead. */
const HEARTBEAT_TIMEOUT = '10s';

/**
 * Patient with our own side: a run under way outlasts a Postgres that is away for minutes. The number only keeps a
 * fault that never passes from looping until the run's timeout, which may be a day.
 */
const MAX_ATTEMPTS = 60;

/**
 * A model step: retried while the provider says "later", with its own delay where it names one, until the activity
 * says that the provider has had its chances. The run's remaining time bounds all attempts together; that is also
 * how a run's timeout is kept, without a timer of its own.
 */
export function modelStepPolicy(remainingMs: number, summary: string): ActivityOptions {
  return {
    scheduleToCloseTimeout: remainingMs,
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
 * A tool call: what goes wrong with it is a recorded result, so only a worker that died or could not write is a reason
 * to try again, and whether the call itself is then repeated is decided by what is on record. Its own deadlines come
 * to three minutes at most.
 */
export function toolCallPolicy(remainingMs: number, summary: string): ActivityOptions {
  return {
    scheduleToCloseTimeout: remainingMs,
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

/** Writes to Postgres that must happen in the end: patient, since the alternative is a run that never ends. */
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

/** A part of the scheduler: not retried, the next minute is the retry. */
export const tickPolicy: ActivityOptions = {
  startToCloseTimeout: '5m',
  scheduleToStartTimeout: '1m',
  heartbeatTimeout: HEARTBEAT_TIMEOUT,
  retry: { maximumAttempts: 1 },
};
