import { execute, sql, type Db } from '#lib/database/index.ts';

/** Deletes invitations that can no longer be accepted, and sessions and tokens that have ended. */
export async function forgetEnded(db: Db): Promise<void> {
  await execute(db, sql`delete from invitations where expires_at < now()`);
  await execute(db, sql`delete from sessions where expires_at < now() - interval '1 day'`);
  await execute(db, sql`delete from verifications where expires_at < now() - interval '1 day'`);
}
