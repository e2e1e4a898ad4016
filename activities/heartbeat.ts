import { Context } from '@temporalio/activity';

const BEAT_MS = 3_000;

/**
 * Sends heartbeats during `work`. The responses report a cancellation, and Temporal treats a worker as dead when its
 * heartbeats stop.
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
