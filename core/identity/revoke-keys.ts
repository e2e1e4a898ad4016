import { recordAudit, type Actor } from '#core/audit/index.ts';
import { rows, sql, type Db, type Sql } from '#lib/database/index.ts';
import type { Member } from './roles.ts';

/** Revokes the API keys that a person made in an organization. */
export function revokeKeysOf(tx: Db, by: Actor, member: Member): Promise<void> {
  const { organizationId, userId } = member;
  return revoke(
    tx,
    by,
    organizationId,
    sql`
      created_by = ${userId} and project_id in (
        select id from projects where organization_id = ${organizationId})
    `,
  );
}

/** Revokes every API key of a project, which is being deleted. */
export function revokeKeysOfProject(
  tx: Db,
  by: Actor,
  { organizationId, projectId }: { organizationId: string; projectId: string },
): Promise<void> {
  return revoke(tx, by, organizationId, sql`project_id = ${projectId}`);
}

async function revoke(tx: Db, by: Actor, organizationId: string, which: Sql): Promise<void> {
  const revoked = await rows<{ id: string; projectId: string }>(
    tx,
    sql`
      update api_keys set revoked_at = now() where revoked_at is null and ${which}
      returning id, project_id as "projectId"
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
}
