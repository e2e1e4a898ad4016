import { recordProjectAudit, type Actor } from '#core/audit/index.ts';
import { rows, sql, type Db } from '#lib/database/index.ts';

/** A connection that waits for somebody to sign in again. */
export interface EndedSignIn {
  readonly id: string;
  readonly name: string;
  readonly projectId: string;
}

/**
 * Ends the sign-ins of a person who leaves an organization, in the transaction of that: runs would go on acting as
 * them. The new version of the credentials keeps a renewal that is under way from bringing them back.
 */
export async function endSignInsOf(
  tx: Db,
  by: Actor,
  { organizationId, userId }: { readonly organizationId: string; readonly userId: string },
): Promise<EndedSignIn[]> {
  const ended = await rows<EndedSignIn>(
    tx,
    sql`
      update connections c set state = 'needs_reauthorization', public_error = 'person_left', updated_at = now(),
        credentials_version = credentials_version + 1, renewal_lease = null, renewal_leased_until = null
      from projects p
      where p.id = c.project_id and p.organization_id = ${organizationId} and c.auth = 'oauth' and c.state = 'ready'
        and coalesce(c.signed_in_by, c.created_by) = ${userId}
      returning c.id, c.name, c.project_id as "projectId"
    `,
  );
  for (const { id, projectId } of ended) {
    const entry = { by, projectId, targetId: id, details: { state: 'needs_reauthorization' } };
    await recordProjectAudit(tx, { ...entry, action: 'connection.changed' });
  }
  return ended;
}
