import { deleteBatch, sql, type Db } from '#lib/database/index.ts';

/**
 * Deletes what the authentication library leaves behind: sessions and verifications that have expired. Each deletes at
 * most `limit` rows and returns how many.
 */
export const forgetAuthentication: readonly ((db: Db, limit: number) => Promise<number>)[] = [
  (db, limit) => deleteBatch(db, { table: 'sessions', ...expired, limit }),
  (db, limit) => deleteBatch(db, { table: 'verifications', ...expired, limit }),
  // Only the release before counts in these two; they are dropped in the next one.
  (db, limit) =>
    deleteBatch(db, {
      table: 'auth_rate_limits',
      where: sql`last_request < (extract(epoch from now() - interval '1 day') * 1000)::bigint`,
      orderBy: sql`last_request`,
      limit,
    }),
  (db, limit) =>
    deleteBatch(db, {
      table: 'throttles',
      where: sql`started_at < now() - interval '1 day'`,
      limit,
    }),
];

const expired = { where: sql`expires_at < now()`, orderBy: sql`expires_at` };
