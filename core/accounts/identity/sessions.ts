import { recordAudit, type Actor } from '#core/foundation/audit/index.ts';
import { demandProofOf } from '#core/accounts/organizations/index.ts';
import { assertWithinLimit, type ThrottleRule } from '#core/foundation/rate-limits/index.ts';
import { deleteBatch, sql, type Db } from '#lib/database/index.ts';

/** A signed-in browser. */
export interface ListedSession {
  readonly id: string;
  readonly createdAt: Date;
  /** Time at which the session was last prolonged. A session in use is prolonged once a day. */
  readonly updatedAt: Date;
  readonly expiresAt: Date;
  readonly address: string | null;
  readonly userAgent: string | null;
}

const columns = sql`
  id, created_at as "createdAt", updated_at as "updatedAt", expires_at as "expiresAt", ip_address as address,
  user_agent as "userAgent"
`;

/** The most sessions in a list. Older sessions expire. */
export const MAX_LISTED_SESSIONS = 100;

/** Lists the sessions of a person that have not ended, the latest first. */
export function listSessions(db: Db, userId: string): Promise<ListedSession[]> {
  return db.rows<ListedSession>`
    select ${columns} from sessions where user_id = ${userId} and expires_at > now()
    order by created_at desc, id limit ${MAX_LISTED_SESSIONS}
  `;
}

/** Ends a session of the person: its next request is refused. @throws {AppError} `session_not_found` */
export function revokeSession(db: Db, { userId, id }: { userId: string; id: string }): Promise<ListedSession> {
  return db.rowOr<ListedSession>('session_not_found')`
    delete from sessions where id = ${id} and user_id = ${userId} and expires_at > now() returning ${columns}
  `;
}

/**
 * Ends the sessions of a member in one organization: each session is refused there until the member proves in it who
 * they are. The sessions keep working in other organizations, where this admin has no rights.
 * @returns how many sessions
 * @throws {AppError} `organization_not_found`, `member_not_found`, `forbidden`, `owner_required` when an admin would
 * end an owner's sessions, `rate_limited`
 */
export async function endSessionsOf(
  tx: Db,
  by: Actor & { readonly id: string },
  member: { readonly organizationId: string; readonly userId: string },
): Promise<number> {
  const { organizationId, userId } = member;
  await demandProofOf(tx, by, member);
  const message = 'The sessions of this member were ended too often in this hour; try again later.';
  await assertWithinLimit(tx, ENDINGS, `${organizationId} ${userId}`, message);
  const { ended = 0 } =
    (await tx.row<{ ended: number }>`
      select count(*) as ended from sessions where user_id = ${userId} and expires_at > now()
    `) ?? {};
  await recordAudit(tx, {
    organizationId,
    by,
    action: 'member.sessions_ended',
    targetId: userId,
    details: { sessions: ended },
  });
  return ended;
}

/** Limits how often a member must prove who they are, because the member cannot work until then. */
const ENDINGS: ThrottleRule = { name: 'end-sessions', limit: 5, windowSeconds: 60 * 60 };

const expired = { where: sql`expires_at < now()`, orderBy: sql`expires_at` };

/**
 * Functions that delete expired sessions and verifications of the authentication library. Each deletes at most `limit`
 * rows and returns how many.
 */
export const forgetSessions: readonly ((db: Db, limit: number) => Promise<number>)[] = [
  (db, limit) => deleteBatch(db, { table: 'sessions', ...expired, limit }),
  (db, limit) => deleteBatch(db, { table: 'verifications', ...expired, limit }),
];

/**
 * Deletes people who have not confirmed their address in 30 days. A service without a mail server must not call this,
 * because no address can be confirmed there. People with a membership or a session stay: they may have signed up before
 * there was a mail server.
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
