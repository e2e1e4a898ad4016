import { recordAudit, type Actor } from '#core/audit/index.ts';
import { rows, sql, type Db, type Sql } from '#lib/database/index.ts';
import type { Member, Role } from './roles.ts';

/** A key that has just been revoked. */
export interface RevokedKey {
  readonly id: string;
  readonly name: string;
  readonly projectId: string;
}

/**
 * Revokes the API keys that a person made in an organization.
 * @param role the role that they have now, whose rights their keys may go on using; undefined for somebody who goes
 */
export function revokeKeysOf(
  tx: Db,
  by: Actor,
  member: Member,
  role?: Role,
): Promise<RevokedKey[]> {
  const { organizationId, userId } = member;
  return revoke(
    tx,
    by,
    organizationId,
    sql`
      created_by = ${userId} and ${role === undefined ? sql`true` : beyond(role)} and project_id in (
        select id from projects where organization_id = ${organizationId})
    `,
  );
}

/** Returns an SQL condition that is true of keys that somebody of this role could not make. */
function beyond(role: Role): Sql {
  return role === 'member'
    ? sql`exists (select from unnest(scopes) as scope where scope like '%:write')`
    : sql`false`;
}

/** Revokes every API key of a project, which is being deleted. */
export function revokeKeysOfProject(
  tx: Db,
  by: Actor,
  { organizationId, projectId }: { organizationId: string; projectId: string },
): Promise<RevokedKey[]> {
  return revoke(tx, by, organizationId, sql`project_id = ${projectId}`);
}

async function revoke(
  tx: Db,
  by: Actor,
  organizationId: string,
  which: Sql,
): Promise<RevokedKey[]> {
  const revoked = await rows<RevokedKey>(
    tx,
    sql`
      update api_keys set revoked_at = now() where revoked_at is null and ${which}
      returning id, name, project_id as "projectId"
    `,
  );
  for (const { id, projectId } of revoked) {
    await recordAudit(tx, {
      organizationId,
      projectId,
      by,
      action: 'api_key.revoked',
      targetId: id,
    });
  }
  return revoked;
}
