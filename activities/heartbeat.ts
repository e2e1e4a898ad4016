import { Context } from '@temporalio/activity';

const BEAT_MS = 3_000;

/**
 * Sends heartbeats during `work`: their responses tell the activity that it was cancelled, and Temporal takes a worker
 * whose heartbeats stop for dead.
 */
export async function withHeartbeat<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), BEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
