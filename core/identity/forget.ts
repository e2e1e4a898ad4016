import { execute, sql, type Db } from '#lib/database/index.ts';

/** Deletes invitations that can no longer be accepted. */
export async function forgetInvitations(db: Db): Promise<void> {
  await execute(db, sql`delete from invitations where expires_at < now()`);
}
