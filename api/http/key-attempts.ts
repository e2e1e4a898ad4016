import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { AppError } from '#lib/errors.ts';
import { createTurns } from '#lib/turns.ts';
import { countByAddress } from './address-windows.ts';

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

/** Keys of one process that were right and need no caution. */
const MAX_KNOWN = 10_000;
/** New keys of one address that wait to be looked up. */
const MAX_WAITING = 1_000;

/**
 * Limits wrong keys by the address they come from, in the memory of this process: after `limit` in a minute none is
 * looked up any more. Only failures count, and a key that was right before goes on working from anywhere, so that
 * nobody is shut out by others behind the same address. New keys of one address are looked up one after another, and so
 * a thousand at once do not pass the limit together.
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
  return new AppError('rate_limited', 'Too many wrong API keys from this address.', {
    'Retry-After': String(seconds),
  });
}
