import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from './errors.ts';

const POLL_MS = 150;
/** Wait that outlasts the lease of a dead process and the renewal that follows. */
const PATIENCE_MS = 70_000;

/**
 * Creates a function that renews a credential once at a time in this process, by key. A caller that cancels does not
 * end a renewal: its new tokens would be lost.
 */
export function createRenewals<T>(): (key: string, renew: () => Promise<T>, signal: AbortSignal) => Promise<T> {
  const underWay = new Map<string, Promise<T>>();
  return (key, renew, signal) => {
    let renewing = underWay.get(key);
    if (renewing === undefined) {
      renewing = renew().finally(() => underWay.delete(key));
      // Callers that wait are told of a failure below; without one it must not count as unhandled.
      renewing.catch(() => undefined);
      underWay.set(key, renewing);
    }
    return unlessAborted(renewing, signal);
  };
}

/**
 * Has a credential renewed once in however many processes: the one that takes the lease in its row asks the provider,
 * the others wait for what it stores.
 * @throws {AppError} `provider_error` when the others have waited for too long
 */
export async function renewUnderLease<Lease, T>(steps: {
  /** Takes the lease; undefined when another holds it, or there is nothing to renew any more. */
  take(): Promise<Lease | undefined>;
  renew(lease: Lease): Promise<T>;
  /** Returns what another process has renewed; undefined while it is at it. */
  look(): Promise<T | undefined>;
}): Promise<T> {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    const lease = await steps.take();
    if (lease !== undefined) return steps.renew(lease);
    const renewed = await steps.look();
    if (renewed !== undefined) return renewed;
    if (performance.now() > end) throw notRenewed();
    await sleep(POLL_MS);
  }
}

/** Says that there are no new tokens just now, and may be later. */
export function notRenewed(): AppError {
  return new AppError('provider_error', 'The sign-in could not be renewed just now; try again.');
}

/** Waits for work that goes on whether or not anybody waits. @throws the signal's reason once it aborts */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const stop = Promise.withResolvers<never>();
  const abort = () => stop.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, stop.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
