import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { AppError } from '#lib/errors.ts';
import { createTurns } from '#lib/turns.ts';

/** A key that somebody presents, from a client address. */
export interface KeyAttempt {
  readonly address: string;
  /** The key as it was presented; empty where it does not have the form of one. */
  readonly presented: string;
}

export interface KeyAttempts {
  /**
   * Looks up a presented key.
   * @throws {AppError} `rate_limited` when too many from this address were wrong
   */
  lookUp<T>(attempt: KeyAttempt, find: () => Promise<T | undefined>): Promise<T | undefined>;
}

/** A minute that begins with the first wrong key. */
interface Window {
  readonly failures: number;
  readonly endsAt: number;
}

const WINDOW_MS = 60_000;
const MAX_ADDRESSES = 100_000;
/** Keys of one process that were right and need no caution. */
const MAX_KNOWN = 10_000;
/** New keys of one address that wait to be looked up. */
const MAX_WAITING = 1_000;

/**
 * Limits wrong keys by the address they come from, in the memory of this process: after `limit` in a minute none is
 * looked up any more. Only failures count, and a key that was right before goes on working from anywhere, so that nobody
 * is shut out by others behind the same address. New keys of one address are looked up one after another, and so a
 * thousand at once do not pass the limit together.
 */
export function limitKeyAttempts(limit: number, now = () => performance.now()): KeyAttempts {
  const windows = new LRUCache<string, Window>({ max: MAX_ADDRESSES });
  const known = new LRUCache<string, true>({ max: MAX_KNOWN });
  const inTurn = createTurns(MAX_WAITING);

  function windowOf(address: string): Window | undefined {
    const found = windows.get(address);
    return found !== undefined && found.endsAt > now() ? found : undefined;
  }

  function fail(address: string): void {
    const { failures, endsAt } = windowOf(address) ?? { failures: 0, endsAt: now() + WINDOW_MS };
    windows.set(address, { failures: failures + 1, endsAt });
  }

  function assertFew(address: string): void {
    const window = windowOf(address);
    if (window === undefined || window.failures < limit) return;
    throw tooMany(Math.ceil((window.endsAt - now()) / 1_000));
  }

  async function lookUpNew<T>(id: string, address: string, find: () => Promise<T | undefined>) {
    if (known.has(id)) return { isKnown: true as const };
    assertFew(address);
    const found = await find();
    if (found === undefined) fail(address);
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
        fail(address);
      }
      return found;
    },
  };
}

function tooMany(seconds: number): AppError {
  return new AppError('rate_limited', 'Too many wrong API keys from this address.', {
    'Retry-After': String(Math.max(seconds, 1)),
  });
}
