import { execute, sql, type Db } from '#lib/database/index.ts';

/** Deletes invitations that can no longer be accepted. */
export function forgetInvitations(db: Db, limit: number): Promise<number> {
  return execute(
    db,
    sql`
      with old as (
        select id from invitations where expires_at < now() limit ${limit}
        for update skip locked
      )
      delete from invitations t using old where t.id = old.id
    `,
  );
}
