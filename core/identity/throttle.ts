import { hash } from 'node:crypto';
import { deleteBatch, execute, row, sql, type Db } from '#lib/database/index.ts';

/** Allows at most `limit` events under one key in a window that begins with the first of them. */
export interface ThrottleRule {
  readonly name: string;
  readonly limit: number;
  readonly windowSeconds: number;
}

/** Attempts to sign in to one account, from wherever they come; a success starts the count anew. */
export const SIGN_INS: ThrottleRule = { name: 'sign-in', limit: 10, windowSeconds: 15 * 60 };

/** Messages to one address that somebody who is not signed in can cause. */
export const MAILS: ThrottleRule = { name: 'mail', limit: 5, windowSeconds: 60 * 60 };

/** Invitations that one person sends. */
export const INVITATION_MAILS: ThrottleRule = {
  name: 'invitation-mail',
  limit: 100,
  windowSeconds: 24 * 60 * 60,
};

/**
 * Counts an event of `subject`, over all replicas, before what it allows is done, so that many at a time do not pass
 * the limit together.
 * @returns undefined when it is within the limit, else the seconds until the next window
 */
export async function throttle(
  db: Db,
  rule: ThrottleRule,
  subject: string,
): Promise<number | undefined> {
  const window = sql`make_interval(secs => ${rule.windowSeconds})`;
  const counted = await row<{ count: number; seconds: number }>(
    db,
    sql`
      insert into throttles as t (key, started_at, count) values (${keyOf(rule, subject)}, now(), 1)
      on conflict (key) do update set
        started_at = case when t.started_at + ${window} <= now() then now() else t.started_at end,
        count = case when t.started_at + ${window} <= now() then 1 else t.count + 1 end
      returning count, greatest(ceil(extract(epoch from started_at + ${window} - now())), 1)::int as seconds
    `,
  );
  return counted === undefined || counted.count <= rule.limit ? undefined : counted.seconds;
}

/** Starts the count of `subject` anew. */
export async function unthrottle(db: Db, rule: ThrottleRule, subject: string): Promise<void> {
  await execute(db, sql`delete from throttles where key = ${keyOf(rule, subject)}`);
}

/** Deletes counts that no window can still hold. Without an index, which each attempt would have to keep up. */
export function forgetThrottles(db: Db, limit: number): Promise<number> {
  return deleteBatch(db, {
    table: 'throttles',
    where: sql`started_at < now() - interval '1 day'`,
    limit,
  });
}

/** Hashed, so that the table is no list of addresses that somebody has tried. */
function keyOf({ name }: ThrottleRule, subject: string): string {
  return `${name}:${hash('sha256', subject.toLowerCase(), 'base64url')}`;
}
