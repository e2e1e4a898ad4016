import { deleteBatch, sql, type Db } from '#lib/database/index.ts';

type Forget = (db: Db, limit: number) => Promise<number>;

const expired = { where: sql`expires_at < now()`, orderBy: sql`expires_at` };

/**
 * Deletes what is over: expired sessions and verifications, which the authentication library leaves behind, counts that
 * no window holds any more, and expired invitations. Each deletes at most `limit` rows and returns how many.
 */
export const forgetIdentity: readonly Forget[] = [
  (db, limit) => deleteBatch(db, { table: 'sessions', ...expired, limit }),
  (db, limit) => deleteBatch(db, { table: 'verifications', ...expired, limit }),
  // The longest window is a day. There is no index, which each request would have to keep up.
  (db, limit) =>
    deleteBatch(db, {
      table: 'rate_limits',
      where: sql`window_start < now() - interval '1 day'`,
      limit,
    }),
  (db, limit) => deleteBatch(db, { table: 'invitations', where: expired.where, limit }),
];

/**
 * Deletes people who have not confirmed their address in 30 days. Only for a service with a mail server: without one no
 * address can be confirmed. People who signed up before there was one have a membership or a session.
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
