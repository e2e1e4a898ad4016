import { hash } from 'node:crypto';
import { deleteBatch, sql, type Db, type Sql } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';

/** Allows at most `limit` events under one key in a window that begins with the first event. */
export interface ThrottleRule {
  readonly name: string;
  readonly limit: number;
  readonly windowSeconds: number;
}

/** The events under a key in the current window, including the present event, and the seconds until the next window. */
export interface WindowUse {
  readonly count: number;
  readonly resetSeconds: number;
}

/**
 * Counts an event of `subject` over all replicas, before the event is allowed, so that many concurrent events cannot
 * exceed the limit.
 * @returns undefined within the limit, else the seconds until the next window
 */
export async function throttle(db: Db, rule: ThrottleRule, subject: string): Promise<number | undefined> {
  const { count, resetSeconds } = await countWithin(db, rule, subject);
  return count <= rule.limit ? undefined : resetSeconds;
}

/** Counts an event of `subject`, and leaves it to the caller to compare the count with a limit. */
export async function countWithin(
  db: Db,
  rule: Pick<ThrottleRule, 'name' | 'windowSeconds'>,
  subject: string,
): Promise<WindowUse> {
  const event = sql`select ${keyOf(rule, subject)}::text, now(), 1`;
  const use = await db.row<WindowUse>`${counting(event, rule.windowSeconds)}`;
  return use ?? { count: 1, resetSeconds: rule.windowSeconds };
}

/** Counts one request of a credential that was verified elsewhere, such as a session. */
export async function countUse(db: Db, credential: string): Promise<WindowUse> {
  const request = sql`select ${credential}::text, date_trunc('minute', now()), 1`;
  return (await db.row<WindowUse>`${counting(request, 60)}`) ?? { count: 1, resetSeconds: 60 };
}

/**
 * Returns the statement that counts events. All limits that apply over the replicas are rows of one table. With a
 * rounded start, windows follow the clock; with the present time, a window begins with its first event.
 * @param events a select of key, start of the window, and number of events
 */
export function counting(events: Sql, windowSeconds: number): Sql {
  const end = sql`r.window_start + make_interval(secs => ${windowSeconds}::integer)`;
  const isOver = sql`${end} <= excluded.window_start`;
  return sql`
    insert into rate_limits as r (credential, window_start, count) ${events}
    on conflict (credential) do update set
      window_start = case when ${isOver} then excluded.window_start else r.window_start end,
      count = case when ${isOver} then excluded.count else r.count + excluded.count end
    returning count, greatest(ceil(extract(epoch from ${end} - now())), 1)::integer as "resetSeconds"
  `;
}

/** Counts an event of `subject`. @throws {AppError} `rate_limited` with the time to wait, once there are too many */
export async function assertWithinLimit(db: Db, rule: ThrottleRule, subject: string, message?: string): Promise<void> {
  const wait = await throttle(db, rule, subject);
  if (wait !== undefined) throw new AppError('rate_limited', message, { 'Retry-After': String(wait) });
}

/** Forgets the events of `subject`. */
export async function unthrottle(db: Db, rule: Pick<ThrottleRule, 'name'>, subject: string): Promise<void> {
  await db.run`delete from rate_limits where credential = ${keyOf(rule, subject)}`;
}

/** Subtracts one event of `subject` that the rule does not cover. */
export async function uncount(db: Db, rule: Pick<ThrottleRule, 'name'>, subject: string): Promise<void> {
  await db.run`update rate_limits set count = count - 1 where credential = ${keyOf(rule, subject)} and count > 0`;
}

/** Hashes the subject, so that the table does not list the addresses that people have tried. */
function keyOf({ name }: Pick<ThrottleRule, 'name'>, subject: string): string {
  return `${name}:${hash('sha256', subject.toLowerCase(), 'base64url')}`;
}

const STARTS: ThrottleRule = { name: 'sign-in-start', limit: 20, windowSeconds: 15 * 60 };

/**
 * Counts a sign-in at a provider that a person begins. Each sign-in sends requests to a server, may register a client
 * there, and uses up limits that the provider sets for the operator.
 * @param at a provider, or a group of providers that are counted together
 * @throws {AppError} `rate_limited`
 */
export async function assertMayBeginSignIn(db: Db, userId: string, at: string): Promise<void> {
  await assertWithinLimit(
    db,
    STARTS,
    `${userId} ${at}`,
    'You have started too many sign-ins at this provider; wait a few minutes.',
  );
}

/**
 * Deletes counts of windows that are over; the longest window is a day.
 * @returns how many
 */
export function forgetCounts(db: Db, limit: number): Promise<number> {
  // The table has no index for this, because every request would have to update it.
  return deleteBatch(db, {
    table: 'rate_limits',
    where: sql`window_start < now() - interval '1 day'`,
    limit,
  });
}
