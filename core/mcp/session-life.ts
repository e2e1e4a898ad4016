import type { AppError } from '#lib/errors.ts';
import { toToolServerError, ToolServerError } from './error.ts';
import { GRACE_MS } from './response-watch.ts';

export interface CallLimits {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** The life of a session: the first thing that goes wrong ends it, and every operation from then on fails with that. */
export interface SessionLife {
  /** Aborted when the session ends. */
  readonly signal: AbortSignal;
  isOver(): boolean;
  end(this: void, reason: ToolServerError | AppError): void;
  /** Runs one operation under its limits; whatever ends it early ends the session. */
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
        // In a moment, so that a server that understands the cancellation hears of it first.
        setTimeout(() => end(reason), GRACE_MS).unref();
      };
      const timer = setTimeout(() => stopWith(new ToolServerError('too_slow')), timeoutMs);
      const cancel = () => stopWith(new ToolServerError('cancelled'));
      const die = () => stopped.reject(life.signal.reason);
      signal.addEventListener('abort', cancel, { once: true });
      life.signal.addEventListener('abort', die, { once: true });
      try {
        if (signal.aborted) throw new ToolServerError('cancelled', { mayHaveArrived: false });
        // The library's own clock only stands behind ours.
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
