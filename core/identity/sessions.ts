import { recordAudit, type Actor } from '#core/audit/index.ts';
import { execute, row, rows, sql, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { readMember } from './members.ts';
import { assertAdmin, lockOrganization, type Member } from './roles.ts';

/** A browser in which a person is signed in. */
export interface ListedSession {
  readonly id: string;
  readonly createdAt: Date;
  /** Time of the last prolongation, which use brings about once a day. */
  readonly updatedAt: Date;
  readonly expiresAt: Date;
  readonly address: string | null;
  readonly userAgent: string | null;
}

const columns = sql`
  id, created_at as "createdAt", updated_at as "updatedAt", expires_at as "expiresAt", ip_address as address,
  user_agent as "userAgent"
`;

/** The most sessions that are listed; those beyond are older and end by themselves. */
export const MAX_LISTED_SESSIONS = 100;

/** Lists the sessions of a person that have not ended, the latest first. */
export function listSessions(db: Db, userId: string): Promise<ListedSession[]> {
  return rows<ListedSession>(
    db,
    sql`
      select ${columns} from sessions where user_id = ${userId} and expires_at > now()
      order by created_at desc, id limit ${MAX_LISTED_SESSIONS}
    `,
  );
}

/** Ends a session of the person, with its next request. @throws {AppError} `session_not_found` */
export async function revokeSession(
  db: Db,
  { userId, id }: { userId: string; id: string },
): Promise<ListedSession> {
  const revoked = await row<ListedSession>(
    db,
    sql`
      delete from sessions where id = ${id} and user_id = ${userId} and expires_at > now() returning ${columns}
    `,
  );
  if (revoked === undefined) throw new AppError('session_not_found');
  return revoked;
}

/**
 * Ends every session of a member, with their next request. They may be in other organizations too, and sign in again.
 * @returns how many
 * @throws {AppError} `organization_not_found`, `member_not_found`, `forbidden`, `owner_required` when an admin would end
 * those of an owner
 */
export async function endSessionsOf(
  tx: Db,
  by: Actor & { readonly id: string },
  member: Member,
): Promise<number> {
  const { organizationId, userId } = member;
  await lockOrganization(tx, organizationId);
  const own = await assertAdmin(tx, { organizationId, userId: by.id });
  const { role } = await readMember(tx, member);
  if (role === 'owner' && own !== 'owner') throw new AppError('owner_required');
  const ended = await execute(
    tx,
    sql`delete from sessions where user_id = ${userId} and expires_at > now()`,
  );
  await recordAudit(tx, {
    organizationId,
    by,
    action: 'member.sessions_ended',
    targetId: userId,
    details: { sessions: ended },
  });
  return ended;
}
