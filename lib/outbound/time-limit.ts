import { OutboundError } from './errors.ts';

export interface TimeLimit {
  /** Aborts at the deadline or with the caller's signal, with that one's reason. */
  signal: AbortSignal;
  /** Frees the timer and the listener; to be called when the exchange has ended, however it did. */
  release: () => void;
}

/** Joins a deadline for the whole exchange, body included, with the caller's signal. */
export function startTimeLimit(
  host: string,
  timeoutMs: number | undefined,
  callerSignal: AbortSignal | undefined,
): TimeLimit {
  const controller = new AbortController();
  const expire = (): void =>
    controller.abort(
      new OutboundError('timeout', `not finished within ${timeoutMs} milliseconds`, { host }),
    );
  const cancel = (): void => controller.abort(callerSignal?.reason);

  const timer = timeoutMs === undefined ? undefined : setTimeout(expire, timeoutMs);
  if (callerSignal?.aborted === true) cancel();
  callerSignal?.addEventListener('abort', cancel, { once: true });
  return {
    signal: controller.signal,
    release: () => {
      clearTimeout(timer);
      callerSignal?.removeEventListener('abort', cancel);
    },
  };
}
