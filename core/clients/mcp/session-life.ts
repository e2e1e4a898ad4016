import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AppError } from '#lib/errors.ts';
import { ToolServerError, toToolServerError } from './error.ts';

export interface CallLimits {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** The life of a session: the first failure ends the session, and every later operation fails with the same error. */
export interface SessionLife {
  /** Aborted when the session ends. */
  readonly signal: AbortSignal;
  isOver(): boolean;
  end(this: void, reason: ToolServerError | AppError): void;
  /** Runs one operation under its limits; an operation that ends early also ends the session. */
  within<T>(
    limits: CallLimits,
    operation: (options: { signal: AbortSignal; timeout: number }) => Promise<T>,
  ): Promise<T>;
}

export function createSessionLife(): SessionLife {
  const life = new AbortController();
  let over: ToolServerError | AppError | undefined;

  function end(reason: ToolServerError | AppError): void {
    if (over !== undefined) return;
    over = reason;
    life.abort(reason);
  }

  return {
    signal: life.signal,
    isOver: () => over !== undefined,
    end,
    async within({ signal, timeoutMs }, operation) {
      if (over !== undefined) throw over;
      const stop = new AbortController();
      const stopped = Promise.withResolvers<never>();
      const stopWith = (reason: ToolServerError) => {
        stop.abort(reason);
        stopped.reject(reason);
        // Delay the end a little, so that a server that understands the cancellation gets it first.
        setTimeout(() => end(reason), GRACE_MS).unref();
      };
      const timer = setTimeout(() => stopWith(new ToolServerError('too_slow')), timeoutMs);
      const cancel = () => stopWith(new ToolServerError('cancelled'));
      const die = () => stopped.reject(life.signal.reason);
      signal.addEventListener('abort', cancel, { once: true });
      life.signal.addEventListener('abort', die, { once: true });
      try {
        if (signal.aborted) throw new ToolServerError('cancelled', { mayHaveArrived: false });
        // Give the library a longer timeout, which is only a fallback.
        const options = { signal: stop.signal, timeout: timeoutMs + 10_000 };
        return await Promise.race([operation(options), stopped.promise]);
      } catch (error) {
        if (over !== undefined) throw over;
        if (stop.signal.aborted) throw stop.signal.reason;
        throw toToolServerError(error);
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', cancel);
        life.signal.removeEventListener('abort', die);
      }
    },
  };
}

/**
 * Notices that the result of a request can no longer arrive, because the response has ended without it or the stream
 * could not be resumed. The MCP client would wait for ever.
 */
export interface ResponseWatch {
  /** Called when a request or a notification is sent. It shows that the result of the last request has arrived. */
  sent(): void;
  /** Called when a response that should contain a result has ended, with or without the result. */
  ended(this: void, error: unknown): void;
  /** Called when an attempt to resume a stream was refused. */
  notResumed(): void;
  /** Resumes a stream after a delay, at most half a minute. @returns a function that cancels the resumption */
  scheduleResume(this: void, resume: () => void, delayMs: number): () => void;
  /** Runs an operation that waits for results. */
  during<T>(operation: () => Promise<T>): Promise<T>;
  /** Resolves when a result can no longer arrive. */
  readonly broken: Promise<ToolServerError | AppError>;
}

export const RESUME_ATTEMPTS = 2;
const MAX_RESUME_DELAY_MS = 30_000;

/** Time for a result to get from the end of its response to the operation that waits for it. */
const GRACE_MS = 250;
/** Turns of the event loop to wait in addition: a process that was blocked runs its timers before it reads a result. */
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
