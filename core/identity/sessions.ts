import { row, rows, sql, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';

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
