import { row, sql, type Db } from '#lib/database/index.ts';
import { lacksSecondFactor } from './second-factor/demand.ts';
import type { Scope } from './scopes.ts';

/** A credential that was let in before, and what for. */
export type Standing =
  | {
      readonly kind: 'key';
      readonly keyId: string;
      readonly projectId: string;
      readonly scope: Scope | undefined;
    }
  | {
      readonly kind: 'session';
      readonly sessionId: string;
      readonly userId: string;
      readonly projectId: string;
    };

/**
 * Tells whether a credential that was let in would be again: the key is not revoked and has its scope; the session
 * lasts, and its person is a member of the organization; the project is there. It is not counted as a request.
 */
export async function stillStands(db: Db, standing: Standing): Promise<boolean> {
  const found = await row(db, standing.kind === 'key' ? ofKey(standing) : ofSession(standing));
  return found !== undefined;
}

function ofKey({ keyId, projectId, scope }: Extract<Standing, { kind: 'key' }>) {
  return sql`
    select from api_keys k join projects p on p.id = k.project_id
    where k.id = ${keyId} and k.project_id = ${projectId} and k.revoked_at is null
      and (k.expires_at is null or k.expires_at > now()) and p.deleted_at is null
      and (${scope ?? null}::text is null or ${scope ?? null} = any(k.scopes))
  `;
}

function ofSession({ sessionId, userId, projectId }: Extract<Standing, { kind: 'session' }>) {
  return sql`
    select from sessions s
    join memberships m on m.user_id = s.user_id
    join organizations o on o.id = m.organization_id
    join projects p on p.organization_id = o.id
    where s.id = ${sessionId} and s.user_id = ${userId} and s.expires_at > now() and p.id = ${projectId}
      and p.deleted_at is null and not ${lacksSecondFactor(sql`o`, userId)}
  `;
}
