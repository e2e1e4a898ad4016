import { raw, sql, type Sql } from '#lib/database/index.ts';
import type { ModelProviders } from '../providers/providers.ts';

/** The columns of a connection, under the names of `ModelConnection`; `c` is the alias of its row. */
export const connectionColumns = sql`
  c.id, c.project_id as "projectId", c.owner_id as "ownerId",
  (select u.name from users u where u.id = c.owner_id) as "ownerName", c.provider, c.provider_name as "providerName",
  c.provider_identity as "providerIdentity", c.account_label as "accountLabel", c.state,
  c.public_error as "publicError", c.not_before as "notBefore", c.validated_at as "validatedAt",
  c.last_used_at as "lastUsedAt", c.run_count as "runCount", c.catalogue_fetched_at as "catalogueFetchedAt",
  c.created_at as "createdAt", c.updated_at as "updatedAt", c.revoked_at as "revokedAt", c.revoked_by as "revokedBy",
  c.revoked_reason as "revokedReason", c.paused_routine_count as "pausedRoutineCount",
  c.provider_revocation as "providerRevocation",
  (select count(*)::integer from model_connection_models m where m.connection_id = c.id) as "modelCount"
`;

/**
 * Returns the condition under which an account may be used: it is ready, its provider is enabled here and still the one
 * that it was connected at, and its owner is still in the project's organization.
 * @param alias of the row of `model_connections`
 */
export function isUsable(providers: Pick<ModelProviders, 'enabled'>, alias = 'c'): Sql {
  const c = raw(alias);
  const slots = providers.enabled.map(({ slot }) => slot);
  const identities = providers.enabled.map(({ identity }) => identity);
  return sql`(
    ${c}.state = 'ready'
    and (${c}.provider, ${c}.provider_identity) in (
      select * from unnest(${slots}::text[], ${identities}::text[]))
    and exists (
      select 1 from projects p join memberships m on m.organization_id = p.organization_id
      where p.id = ${c}.project_id and m.user_id = ${c}.owner_id)
  )`;
}

/**
 * Returns the time until which the allowance of an account is used up, as an SQL expression; null where it is not known
 * to be.
 */
export function notBeforeOf(connectionId: Sql): Sql {
  return sql`(select not_before from model_connections where id = ${connectionId})`;
}
