import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AppError } from '#lib/errors.ts';
import { toToolServerError, ToolServerError } from './error.ts';

/**
 * Notices when the result of a request cannot come any more: its response has ended without it, or the stream it was to
 * come on could not be resumed. The MCP client would wait for ever.
 */
export interface ResponseWatch {
  /** A request has gone out. */
  sent(): void;
  /** A response that was to bring a result has ended, with or without it. */
  ended(this: void, error: unknown): void;
  /** An attempt to resume a stream was refused. */
  notResumed(): void;
  /** Resumes a stream after a delay, at most half a minute. @returns how to call that off */
  scheduleResume(this: void, resume: () => void, delayMs: number): () => void;
  /** Runs an operation that waits for results. */
  during<T>(operation: () => Promise<T>): Promise<T>;
  /** Comes true when a result was waited for in vain. */
  readonly broken: Promise<ToolServerError | AppError>;
}

export const RESUME_ATTEMPTS = 2;
const MAX_RESUME_DELAY_MS = 30_000;

/** Time for a result to get from the end of its response to the operation that waits for it. */
export const GRACE_MS = 250;
/**
 * Turns of the event loop that have to pass as well: a process that was held up comes to its clock before it comes to
 * the result.
 */
const GRACE_TURNS = 20;

export function createResponseWatch(): ResponseWatch {
  const broken = Promise.withResolvers<ToolServerError | AppError>();
  let exchanges = 0;
  let waiting = false;
  let resuming = false;
  let failedResumes = 0;

  async function giveUp(exchange: number, error: unknown): Promise<void> {
    for (let turn = 0; turn < GRACE_TURNS; turn += 1) await nextTurn();
    if (!waiting || exchange !== exchanges || resuming) return;
    broken.resolve(error === undefined ? new ToolServerError('broken') : toToolServerError(error));
  }

  return {
    broken: broken.promise,
    sent() {
      exchanges += 1;
      resuming = false;
      failedResumes = 0;
    },
    ended(error) {
      const exchange = exchanges;
      setTimeout(() => void giveUp(exchange, error), GRACE_MS).unref();
    },
    notResumed() {
      failedResumes += 1;
      if (failedResumes >= RESUME_ATTEMPTS) broken.resolve(new ToolServerError('broken'));
    },
    scheduleResume(resume, delayMs) {
      resuming = true;
      const timer = setTimeout(
        () => {
          resuming = false;
          resume();
        },
        Math.min(delayMs, MAX_RESUME_DELAY_MS),
      );
      return () => clearTimeout(timer);
    },
    async during(operation) {
      waiting = true;
      try {
        return await operation();
      } finally {
        waiting = false;
      }
    },
  };
}
