import { hash } from 'node:crypto';
import { mcpResource, tokenPrefix } from '#core/accounts/identity/index.ts';
import { paidPlanOf } from '#core/accounts/billing/index.ts';
import { lacksSecondFactor, type PaidPlan, type Role, type Scope } from '#core/accounts/organizations/index.ts';
import { sql, type Db } from '#lib/database/index.ts';
import { shownName } from './clients.ts';

/** An assistant that acts for a person in a project. */
interface AssistantAccess {
  readonly projectId: string;
  readonly organizationId: string;
  readonly userId: string;
  /** Id of the grant. Requests of one grant count together against the rate limit. */
  readonly grantId: string;
  readonly clientId: string;
  readonly clientName: string;
  /** The scopes of the consent, without those that the person may no longer give. */
  readonly scopes: readonly Scope[];
  readonly paidPlan: PaidPlan | null;
}

/**
 * Finds the person and project of a bearer token for `PUBLIC_URL/mcp`. Returns undefined for a token that is unknown,
 * has expired, was revoked or is for another resource; while the project has switched MCP off; and for a person who
 * left the organization or lacks a second factor that it demands.
 */
export async function authenticateMcpToken(
  deps: {
    readonly database: Db;
    readonly config: { readonly PUBLIC_URL: string; readonly PRODUCT_TAG: string };
  },
  bearer: string,
): Promise<AssistantAccess | undefined> {
  const { database, config } = deps;
  const prefix = tokenPrefix(config.PRODUCT_TAG, 'access');
  if (!bearer.startsWith(prefix) || bearer.length > 200) return undefined;
  const resource = JSON.stringify([mcpResource(config.PUBLIC_URL)]);
  const found = await database.row<AssistantAccess & { name: string | null; role: Role; stale: boolean }>`
    select p.id as "projectId", p.organization_id as "organizationId", t.user_id as "userId", g.id as "grantId",
      t.client_id as "clientId", c.name, m.role, ${paidPlanOf(sql`o`)} as "paidPlan",
      coalesce(g.last_used_at < now() - interval '1 minute', true) as stale,
      array(
        select scope from jsonb_array_elements_text(t.scopes) as scope
        where g.scopes @> to_jsonb(scope) and scope <> 'offline_access'
      ) as scopes
    from oauth_access_tokens t
    join oauth_consents g
      on g.reference_id = t.reference_id and g.user_id = t.user_id and g.client_id = t.client_id
    join oauth_clients c on c.client_id = t.client_id
    join projects p on p.id = t.reference_id
    join organizations o on o.id = p.organization_id
    join memberships m on m.organization_id = o.id and m.user_id = t.user_id
    where t.token = ${hash('sha256', bearer.slice(prefix.length), 'base64url')} and t.expires_at > now()
      and t.revoked is null and t.resources @> ${resource}::jsonb and c.disabled is not true
      and p.deleted_at is null and p.mcp_enabled and not ${lacksSecondFactor(sql`o`, sql`t.user_id`)}
  `;
  if (found === undefined) return undefined;
  const { name, role, stale, scopes, ...access } = found;
  if (stale) await noteUse(database, access.grantId);
  return {
    ...access,
    clientName: shownName({ name }),
    // Leave out scopes that the person may no longer give: an admin may have become a member.
    scopes: role === 'member' ? scopes.filter((scope) => scope.endsWith(':read')) : scopes,
  };
}

async function noteUse(db: Db, grantId: string): Promise<void> {
  await db.run`
    update oauth_consents set last_used_at = now()
    where id = ${grantId} and (last_used_at is null or last_used_at < now() - interval '1 minute')
  `;
}
