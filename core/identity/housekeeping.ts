import { deleteBatch, sql, type Db } from '#lib/database/index.ts';

/**
 * Deletes what the authentication library leaves behind: sessions and verifications that have expired. Each deletes at
 * most `limit` rows and returns how many.
 */
export const forgetAuthentication: readonly ((db: Db, limit: number) => Promise<number>)[] = [
  (db, limit) => deleteBatch(db, { table: 'sessions', ...expired, limit }),
  (db, limit) => deleteBatch(db, { table: 'verifications', ...expired, limit }),
];

const expired = { where: sql`expires_at < now()`, orderBy: sql`expires_at` };

/** Deletes invitations that can no longer be accepted. */
export function forgetInvitations(db: Db, limit: number): Promise<number> {
  return deleteBatch(db, {
    table: 'invitations',
    where: sql`expires_at < now()`,
    limit,
  });
}

/**
 * Deletes people who have not confirmed their address in 30 days. To be called only where there is a mail server: without
 * one no address can be confirmed. People from the time before it have a membership or a session.
 */
export function forgetUnconfirmed(db: Db, limit: number): Promise<number> {
  return deleteBatch(db, {
    table: 'users',
    where: sql`
      not email_verified and created_at < now() - interval '30 days'
      and not exists (select 1 from memberships m where m.user_id = users.id)
      and not exists (select 1 from sessions s where s.user_id = users.id)
    `,
    orderBy: sql`created_at`,
    limit,
  });
}

/**
 * Deletes counts that no window can still hold: the longest is a day. Without an index, which each request would have
 * to keep up.
 */
export function forgetThrottles(db: Db, limit: number): Promise<number> {
  return deleteBatch(db, {
    table: 'rate_limits',
    where: sql`window_start < now() - interval '1 day'`,
    limit,
  });
}
