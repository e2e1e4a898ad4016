import { execute, sql, type Db } from '#lib/database/index.ts';

/**
 * Deletes what the authentication library leaves behind: sessions and verifications that have expired, and the counts
 * of sign-in attempts of a day ago. Each deletes at most `limit` rows and returns how many.
 */
export const forgetAuthentication: readonly ((db: Db, limit: number) => Promise<number>)[] = [
  (db, limit) =>
    execute(
      db,
      sql`
        with old as (
          select id from sessions where expires_at < now() order by expires_at limit ${limit}
          for update skip locked
        )
        delete from sessions t using old where t.id = old.id
      `,
    ),
  (db, limit) =>
    execute(
      db,
      sql`
        with old as (
          select id from verifications where expires_at < now() order by expires_at limit ${limit}
          for update skip locked
        )
        delete from verifications t using old where t.id = old.id
      `,
    ),
  (db, limit) =>
    execute(
      db,
      sql`
        with old as (
          select id from auth_rate_limits
          where last_request < (extract(epoch from now() - interval '1 day') * 1000)::bigint
          order by last_request limit ${limit}
          for update skip locked
        )
        delete from auth_rate_limits t using old where t.id = old.id
      `,
    ),
];
