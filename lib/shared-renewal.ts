import { setTimeout as sleep } from 'node:timers/promises';
import { sql, type Sql } from './database/index.ts';
import { AppError } from './errors.ts';

const POLL_MS = 150;
/** Longest wait for another process: longer than the lease of a dead process and the following renewal together. */
const PATIENCE_MS = 70_000;

/**
 * Creates a function that renews a credential, one renewal at a time for each key in this process. A caller that
 * cancels does not end a renewal, because its new tokens would be lost.
 */
export function createRenewals<T>(): (key: string, renew: () => Promise<T>, signal: AbortSignal) => Promise<T> {
  const underWay = new Map<string, Promise<T>>();
  return (key, renew, signal) => {
    let renewing = underWay.get(key);
    if (renewing === undefined) {
      renewing = renew().finally(() => underWay.delete(key));
      // Waiting callers get the failure below. If no caller waits, the failure must not end the process as unhandled.
      renewing.catch(() => undefined);
      underWay.set(key, renewing);
    }
    return unlessAborted(renewing, signal);
  };
}

/**
 * Renews a credential once over all processes: the process with the lease in its row asks the provider, the others wait
 * for the stored result.
 * @throws {AppError} `provider_error` when the others have waited for too long
 */
export async function renewUnderLease<Lease, T>(steps: {
  /** Takes the lease; undefined when another process has it, or nothing is left to renew. */
  take(): Promise<Lease | undefined>;
  renew(lease: Lease): Promise<T>;
  /** Returns a credential that another process has renewed; undefined while that process is still working. */
  look(): Promise<T | undefined>;
}): Promise<T> {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    const lease = await steps.take();
    if (lease !== undefined) return steps.renew(lease);
    const renewed = await steps.look();
    if (renewed !== undefined) return renewed;
    if (performance.now() > end) throw new NotRenewed();
    await sleep(POLL_MS);
  }
}

/**
 * Renews a credential that works until it expires. For a minute after a refusal, and while the server cannot renew it,
 * the credential is used as it is.
 */
export async function renewedOr<T>(
  asIs: T,
  { refusals, expired }: { readonly refusals: Refusals | null; readonly expired: boolean },
  renew: () => Promise<T>,
): Promise<T> {
  const wasRefusedNow = (refusals?.agoSeconds ?? Infinity) < REFUSED_PAUSE_SECONDS;
  if (wasRefusedNow && !expired) return asIs;
  try {
    return await renew();
  } catch (error) {
    const mayPass = error instanceof AppError && error.code === 'provider_error';
    if (mayPass && !expired) return asIs;
    throw error;
  }
}

/** Seconds for which a server is not asked again after a refusal, while the credential can still be used. */
const REFUSED_PAUSE_SECONDS = 60;

/** Waits for a credential; undefined when a person has to sign in again first. */
export async function unlessNotReady<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof AppError && error.code === 'connection_not_ready') return undefined;
    throw error;
  }
}

/** Thrown when there are no new tokens now, but a later attempt may get some. */
export class NotRenewed extends AppError {
  /** True when the server has refused the renewal, false when it could not be reached. */
  readonly isRefusal: boolean;

  constructor({ isRefusal }: { readonly isRefusal: boolean } = { isRefusal: false }) {
    super('provider_error', 'The sign-in could not be renewed just now; try again.');
    this.isRefusal = isRefusal;
  }
}

/** A server's refusals to renew one credential. A newly stored credential starts without refusals. */
export interface Refusals {
  /** The last response, and the number of times that it came in a row. */
  readonly answer: string;
  readonly count: number;
  /** Seconds since the first and since the last refusal with that response. */
  readonly sinceSeconds: number;
  readonly agoSeconds: number;
  /** Time of the last refusal. */
  readonly last: string;
}

/**
 * Tells whether one more refusal ends a sign-in. Servers word refusals differently, so the number decides: the second
 * refusal of an expired credential, else the third with the same response within ten minutes or more.
 */
export function endsSignIn(earlier: Refusals | null, answer: string, { expired }: { readonly expired: boolean }) {
  if (earlier === null) return false;
  if (expired) return true;
  return earlier.answer === answer && earlier.count >= 2 && earlier.sinceSeconds >= REFUSED_FOR_SECONDS;
}

const REFUSED_FOR_SECONDS = 600;

/**
 * Selects the refusals of a row; null if its credential was not refused.
 * @param version column of the credential
 */
export function refusalsOf(version: Sql): Sql {
  return sql`case when (renewal_refusals ->> 'version')::integer = ${version} then jsonb_build_object(
    'answer', renewal_refusals ->> 'answer', 'last', renewal_refusals ->> 'last', 'count', (renewal_refusals ->> 'count')::integer,
    'sinceSeconds', extract(epoch from now() - (renewal_refusals ->> 'since')::timestamptz),
    'agoSeconds', extract(epoch from now() - (renewal_refusals ->> 'last')::timestamptz)) end`;
}

/**
 * Returns the condition that the row has no newer refusal than the given refusals, which were read before. A caller who
 * waited for a renewal then gets its refusal, instead of causing another refusal.
 */
export function hasNoNewRefusal(version: Sql, earlier: Refusals | null): Sql {
  return sql`${refusalsOf(version)} ->> 'last' is not distinct from ${earlier?.last ?? null}::text`;
}

/** Returns a row's refusals with one more, for an update of its `renewal_refusals`. */
export function oneMoreRefusal(version: Sql, earlier: Refusals | null, answer: string): Sql {
  const isSame = earlier?.answer === answer;
  return sql`jsonb_build_object('version', ${version}, 'answer', ${answer}::text,
    'count', ${isSame ? earlier.count + 1 : 1}::integer, 'last', now(),
    'since', case when ${isSame}::boolean then (renewal_refusals ->> 'since')::timestamptz else now() end)`;
}

/**
 * Selects how long before its end a credential is renewed, in seconds: a minute, or half of its life if that is less
 * than two minutes. Otherwise a credential with a life of half a minute would be renewed before each request.
 * @param life column with the seconds for which it was issued, null when unknown
 */
export function renewalMarginSeconds(life: Sql): Sql {
  return sql`least(60, coalesce(${life} / 2.0, 60))`;
}

/** Waits for work until the signal aborts. The work continues after the signal. @throws the signal's reason */
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
