import { deleteBatch, sql, type Db } from '#lib/database/index.ts';

/** Deletes invitations that can no longer be accepted. */
export function forgetInvitations(db: Db, limit: number): Promise<number> {
  return deleteBatch(db, {
    table: 'invitations',
    where: sql`expires_at < now()`,
    limit,
  });
}
