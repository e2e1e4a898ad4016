import type { Obstacles } from '#core/upkeep/observability/index.ts';
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { AppError } from '#lib/errors.ts';
import { createTurns } from '#lib/turns.ts';

/** A key that a caller presents, from a client address. */
export interface KeyAttempt {
  readonly address: string;
  /** The presented key; empty when the text does not have the form of a key. */
  readonly presented: string;
}

export interface KeyAttempts {
  /**
   * Looks up a presented key.
   * @throws {AppError} `rate_limited` when too many keys from this address were wrong
   */
  lookUp<T>(attempt: KeyAttempt, find: () => Promise<T | undefined>): Promise<T | undefined>;
}

/** The most accepted keys that this process remembers and looks up without limits. */
const MAX_KNOWN = 10_000;
/** The most new keys from one address that wait for their look-up. */
const MAX_WAITING = 1_000;

/**
 * Limits wrong keys by their address, in the memory of this process: after `limit` in a minute no further key is looked
 * up. Only failures count, and an accepted key stays usable, so that one caller does not shut out others behind the
 * same address. New keys from one address are looked up one after another, so that a thousand at once cannot exceed the
 * limit.
 */
export function limitKeyAttempts(limit: number, now = () => performance.now()): KeyAttempts {
  const failures = countByAddress(limit, now);
  const known = new LRUCache<string, true>({ max: MAX_KNOWN });
  const inTurn = createTurns(MAX_WAITING);

  function assertFew(address: string): void {
    if (failures.isFull(address)) throw tooMany(failures.secondsLeft(address));
  }

  async function lookUpNew<T>(id: string, address: string, find: () => Promise<T | undefined>) {
    if (known.has(id)) return { isKnown: true as const };
    assertFew(address);
    const found = await find();
    if (found === undefined) failures.count(address);
    else known.set(id, true);
    return { isKnown: false as const, found };
  }

  return {
    async lookUp({ address, presented }, find) {
      const id = hash('sha256', presented, 'base64url');
      if (!known.has(id)) {
        const turn = await inTurn(address, () => lookUpNew(id, address, find));
        if (turn === undefined) throw tooMany(1);
        if (!turn.isKnown) return turn.found;
      }
      const found = await find();
      if (found === undefined) {
        known.delete(id);
        failures.count(address);
      }
      return found;
    },
  };
}

function tooMany(seconds: number): AppError {
  return new AppError('rate_limited', 'Too many wrong credentials from this address.', {
    'Retry-After': String(seconds),
  });
}

/** Returns the obstacles that keep this process from its work: calls `look`, or returns the last result of `look`. */
export type Readiness = (address: string, look: () => Promise<Obstacles>) => Promise<Obstacles>;

/** The most checks that one address can cause in a minute. Orchestrators and load balancers need far fewer. */
const LOOKS_PER_MINUTE = 120;
/** The longest time for which a result is served again. Probes usually arrive every five seconds. */
const GOOD_FOR_MS = 5_000;

/**
 * Limits the checks that one address can cause, because anyone may ask. Above the limit the address gets the last
 * result, at most five seconds old. An error would make an orchestrator behind the same address take the process out of
 * service.
 */
export function limitLooks(now = () => performance.now()): Readiness {
  const looks = countByAddress(LOOKS_PER_MINUTE, now);
  let last: { readonly found: Obstacles; readonly goodUntil: number } | undefined;
  return async (address, look) => {
    if (looks.isFull(address) && last !== undefined && now() < last.goodUntil) return last.found;
    looks.count(address);
    const found = await look();
    last = { found, goodUntil: now() + GOOD_FOR_MS };
    return found;
  };
}

/** Counts events by their client address, in the memory of this process. */
export interface AddressWindows {
  count(address: string): void;
  /** Tells whether the address has reached the limit of this minute. */
  isFull(address: string): boolean;
  /** Returns the seconds until the address's minute is over, at least one. */
  secondsLeft(address: string): number;
}

/** A minute that begins with the first event. */
interface Window {
  readonly events: number;
  readonly endsAt: number;
}

const WINDOW_MS = 60_000;
const MAX_ADDRESSES = 100_000;

function countByAddress(limit: number, now = () => performance.now()): AddressWindows {
  const windows = new LRUCache<string, Window>({ max: MAX_ADDRESSES });

  function windowOf(address: string): Window | undefined {
    const found = windows.get(address);
    return found !== undefined && found.endsAt > now() ? found : undefined;
  }

  return {
    count(address) {
      const { events, endsAt } = windowOf(address) ?? { events: 0, endsAt: now() + WINDOW_MS };
      windows.set(address, { events: events + 1, endsAt });
    },
    isFull: (address) => (windowOf(address)?.events ?? 0) >= limit,
    secondsLeft: (address) => Math.max(Math.ceil(((windowOf(address)?.endsAt ?? 0) - now()) / 1_000), 1),
  };
}
