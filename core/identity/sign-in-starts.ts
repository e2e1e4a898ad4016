import type { Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { throttle, type ThrottleRule } from './throttle.ts';

const STARTS: ThrottleRule = { name: 'sign-in-start', limit: 20, windowSeconds: 15 * 60 };

/**
 * Counts a sign-in at a provider that a person begins: each asks a server, may register a client there, and counts
 * against the operator's own.
 * @param at one provider, or a kind of them that counts together
 * @throws {AppError} `rate_limited`
 */
export async function assertMayBeginSignIn(db: Db, userId: string, at: string): Promise<void> {
  const wait = await throttle(db, STARTS, `${userId} ${at}`);
  if (wait === undefined) return;
  throw new AppError('rate_limited', 'Too many sign-ins were begun here; wait a few minutes.', {
    'Retry-After': String(wait),
  });
}
