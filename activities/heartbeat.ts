import { Context } from '@temporalio/activity';

const BEAT_MS = 3_000;

/** Beats while `work` goes on: without it an activity never learns that it was cancelled, nor Temporal that we died. */
export async function withHeartbeat<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), BEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
