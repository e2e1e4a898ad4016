import { timingSafeEqual } from 'node:crypto';
import { paidPlanOf } from '#core/accounts/billing/index.ts';
import {
  lacksSecondFactor,
  readApiKey,
  type PaidPlan,
  type Role,
  type Scope,
} from '#core/accounts/organizations/index.ts';
import { counting, type WindowUse } from '#core/foundation/rate-limits/index.ts';
import { createCoalescer, oncePerObject } from '#lib/coalesce.ts';
import { sql, type Db, type Sql } from '#lib/database/index.ts';

interface KeyCredential {
  readonly keyId: string;
  readonly projectId: string;
  readonly organizationId: string;
  readonly paidPlan: PaidPlan | null;
  /** True if the project allows MCP. Otherwise the key is refused at `/mcp`, and works everywhere else. */
  readonly mcpEnabled: boolean;
  readonly scopes: readonly Scope[];
  readonly stale: boolean;
  readonly use: WindowUse;
}

/**
 * Finds a presented key and counts the request against its rate limit, in one statement, because every request needs
 * both. Only a matching hash is counted, so a guesser cannot use up the limit of a key. Requests of one key that arrive
 * together share one statement, which begins after the last of them has arrived. Otherwise each request would wait for
 * the lock on the key's counter: 16 connections would serve half as many requests a second.
 */
export async function authenticateKey(db: Db, tag: string, presented: string): Promise<KeyCredential | undefined> {
  const key = readApiKey(tag, presented);
  if (key === undefined) return undefined;
  const { shared, place, callers } = await coalescerOf(db)(presented, (requests) => lookUp(db, { ...key, requests }));
  if (shared === undefined) return undefined;
  const { count, resetSeconds: reset, ...credential } = shared;
  return {
    ...credential,
    // Record the use of the key for the first of the requests only.
    stale: credential.stale && place === 0,
    use: { count: count - callers + place + 1, resetSeconds: reset },
  };
}

type FoundKey = Omit<KeyCredential, 'use'> & WindowUse;

async function lookUp(
  db: Db,
  { prefix, hash, requests }: { prefix: string; hash: Buffer; requests: number },
): Promise<FoundKey | undefined> {
  const found = await db.row<FoundKey & { hash: Buffer }>`
    with key as (
      select k.id, k.hash, k.scopes, k.project_id, p.organization_id, ${paidPlanOf(sql`o`)} as paid_plan,
        p.mcp_enabled, coalesce(k.last_used_at < now() - interval '1 minute', true) as stale
      from api_keys k
      join projects p on p.id = k.project_id
      join organizations o on o.id = p.organization_id
      where k.prefix = ${prefix} and k.hash = ${hash} and k.revoked_at is null
        and (k.expires_at is null or k.expires_at > now()) and p.deleted_at is null
    ), hit as (
      ${counting(sql`select id, date_trunc('minute', now()), ${requests}::integer from key`, 60)}
    )
    select key.id as "keyId", key.hash, key.scopes, key.project_id as "projectId",
      key.organization_id as "organizationId", key.paid_plan as "paidPlan", key.mcp_enabled as "mcpEnabled",
      key.stale,
      hit.count, hit."resetSeconds"
    from key, hit
  `;
  if (found === undefined || !timingSafeEqual(found.hash, hash)) return undefined;
  const { hash: _, ...key } = found;
  return key;
}

/** One coalescer for each pool, because requests can share a statement only on the same pool. */
const coalescerOf = oncePerObject(() => createCoalescer<FoundKey | undefined>());

interface ProjectMembership {
  readonly projectId: string;
  readonly organizationId: string;
  readonly role: Role;
  /** True when the organization demands a second factor and the person has none. */
  readonly lacksSecondFactor: boolean;
  /** True when the organization has ended the person's sessions after their last proof of who they are. */
  readonly mustProve: boolean;
  readonly paidPlan: PaidPlan | null;
}

/** Finds the person's membership of the named project, or up to two memberships when none is named. */
export function findMemberships(
  db: Db,
  { userId, provenAt }: SessionProof,
  projectId: string | undefined,
): Promise<ProjectMembership[]> {
  const selected = projectId ?? null;
  return db.rows<ProjectMembership>`
    select p.id as "projectId", p.organization_id as "organizationId", m.role, ${paidPlanOf(sql`o`)} as "paidPlan",
      ${lacksSecondFactor(sql`o`, userId)} as "lacksSecondFactor",
      coalesce(m.sessions_ended_at > ${provenAt}, false) as "mustProve"
    from memberships m
    join organizations o on o.id = m.organization_id
    join projects p on p.organization_id = m.organization_id
    where m.user_id = ${userId} and p.deleted_at is null and (${selected}::text is null or p.id = ${selected})
    limit 2
  `;
}

/** The person of a session, and the time of their last proof. */
interface SessionProof {
  readonly userId: string;
  readonly provenAt: Date;
}

/**
 * Tells whether an organization has ended the person's sessions since their last proof. The organization is given by
 * its id or by one of its projects.
 */
export async function mustProveIn(
  db: Db,
  { userId, provenAt }: SessionProof,
  { organizationId = '', projectId = '' }: { organizationId?: string | undefined; projectId?: string | undefined },
): Promise<boolean> {
  const found = await db.row`
    select from memberships m
    where m.user_id = ${userId} and m.sessions_ended_at > ${provenAt} and (m.organization_id = ${organizationId}
      or m.organization_id = (select p.organization_id from projects p where p.id = ${projectId}))
  `;
  return found !== undefined;
}

/** An accepted credential, and the scope that the request needed. */
type Standing = { readonly projectId: string } & (
  | { readonly kind: 'key'; readonly keyId: string; readonly scope: Scope | undefined }
  | { readonly kind: 'assistant'; readonly grantId: string; readonly scope: Scope | undefined }
  | { readonly kind: 'session'; readonly sessionId: string; readonly userId: string }
);

/**
 * Tells whether an earlier accepted credential would still be accepted: a key is not revoked and has the scope; a
 * consent exists and has the scope; a session has not expired; the person is still a member; the project still exists.
 * The check does not count as a request.
 */
export async function stillStands(db: Db, standing: Standing): Promise<boolean> {
  const { kind } = standing;
  const found =
    await db.row`${kind === 'session' ? ofSession(standing) : kind === 'key' ? ofKey(standing) : ofGrant(standing)}`;
  return found !== undefined;
}

function ofGrant({ grantId, projectId, scope }: Extract<Standing, { kind: 'assistant' }>) {
  return sql`
    select from oauth_consents g
    join projects p on p.id = g.reference_id
    join organizations o on o.id = p.organization_id
    join memberships m on m.organization_id = o.id and m.user_id = g.user_id
    where g.id = ${grantId} and p.id = ${projectId} and p.deleted_at is null and p.mcp_enabled
      and (${scope ?? null}::text is null or g.scopes @> to_jsonb(${scope ?? null}::text))
      and (m.role <> 'member' or ${scope?.endsWith(':write') !== true})
      and not ${lacksSecondFactor(sql`o`, sql`g.user_id`)}
  `;
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
      and coalesce(m.sessions_ended_at < s.proven_at, true)
  `;
}

/**
 * SQL condition: the person who signed in is a member of the project's organization, and has the second factor that
 * the organization demands.
 * @param signIn alias of a row with `project_id` and `user_id`
 */
export function isStillMember(signIn: Sql): Sql {
  return sql`exists (
    select 1 from projects p join memberships m on m.organization_id = p.organization_id
    join organizations o on o.id = p.organization_id
    where p.id = ${signIn}.project_id and m.user_id = ${signIn}.user_id and p.deleted_at is null
      and not ${lacksSecondFactor(sql`o`, sql`${signIn}.user_id`)}
  )`;
}
