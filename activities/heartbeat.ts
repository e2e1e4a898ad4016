import { Context } from '@temporalio/activity';

const BEAT_MS = 3_000;

/** Sends heartbeats during `work`. By them an activity learns of its cancellation, and Temporal of a crash. */
export async function withHeartbeat<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), BEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
