import { hash, randomInt } from 'node:crypto';
import { recordAudit, type Actor } from '#core/foundation/audit/index.ts';
import { now } from '#lib/clock.ts';
import { sql, type Db, type Sql } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { afterCursor, type Page } from '#lib/paging.ts';
import { assertWithinKeptQuota } from '#lib/quota.ts';
import { holdProject } from './projects.ts';
import { roleOf, type Member, type Role } from './roles.ts';

export const SCOPES = [
  'models:read',
  'routines:read',
  'routines:write',
  'runs:read',
  'runs:write',
  'connections:read',
  'connections:write',
  'actions:write',
] as const;

export type Scope = (typeof SCOPES)[number];

export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly scopes: readonly Scope[];
  /** Person who made the key; null when they have deleted their account. */
  readonly createdBy: { readonly id: string; readonly name: string } | null;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
}

const columns = sql`
  k.id, k.name, k.prefix, k.scopes, k.created_at as "createdAt", k.expires_at as "expiresAt",
  k.last_used_at as "lastUsedAt",
  (select jsonb_build_object('id', u.id, 'name', u.name) from users u where u.id = k.created_by) as "createdBy"
`;

/** The most keys of a project that work at a time. */
const MAX_KEYS = 200;

/** The most keys that a project ever has: revoked keys are kept as a record. */
const MAX_KEYS_EVER = 20_000;

interface NewApiKey {
  readonly id: string;
  readonly organizationId: string;
  readonly projectId: string;
  readonly tag: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date | null;
  /** How the key was requested, if not in the dashboard. */
  readonly through?: string;
  /** The CI sign-in for which the key was made. The key ends with the sign-in. */
  readonly trustId?: string;
}

/**
 * Creates a key: stores its hash and returns its plain text, which cannot be shown again.
 * @throws {AppError} `forbidden` when a member wants a key that can write, `invalid_request`, `limit_reached`
 */
export async function createApiKey(
  tx: Db,
  by: Actor & { readonly id: string },
  input: NewApiKey,
): Promise<{ apiKey: ApiKey; plaintext: string }> {
  const { id, organizationId, projectId, name, scopes, expiresAt, through, trustId = null } = input;
  await holdProject(tx, projectId);
  const role = await roleOf(tx, { organizationId, userId: by.id });
  if (role === 'member' && scopes.some((scope) => scope.endsWith(':write'))) {
    throw new AppError('forbidden', 'Only owners and admins can make keys with a write scope.');
  }
  if (expiresAt !== null && expiresAt.getTime() <= now()) {
    throw new AppError('invalid_request', 'expiresAt: must be in the future');
  }
  if (trustId !== null) await forgetKeysOfTrust(tx, trustId);
  await assertWithinKeptQuota(tx, {
    all: sql`select from api_keys where project_id = ${projectId} and id <> ${id}`,
    ever: { max: MAX_KEYS_EVER, what: 'API keys, revoked ones included' },
    live: { where: isLive, max: MAX_KEYS, what: 'API keys', remedy: 'revoke one first' },
  });
  // A key has 8 characters for the look-up, and 43 (256 bits) as the proof.
  const prefix = randomBase62(PREFIX_LENGTH);
  const plaintext = `${input.tag}_${prefix}_${randomBase62(SECRET_LENGTH)}`;
  // The id exists only when an earlier attempt of the same request committed and its response was lost: no one saw the
  // old secret, so the new secret replaces it.
  const created = await tx.rowOr<ApiKey>('internal_error')`
    insert into api_keys as k (id, project_id, name, prefix, hash, scopes, created_by, expires_at, ci_trust_id)
    values (${id}, ${projectId}, ${name}, ${prefix}, ${hashApiKey(plaintext)}, ${scopes}, ${by.id}, ${expiresAt},
      ${trustId})
    on conflict (id) do update set prefix = excluded.prefix, hash = excluded.hash
      where k.project_id = excluded.project_id
    returning ${columns}
  `;
  await recordAudit(tx, {
    organizationId,
    projectId,
    by,
    action: 'api_key.created',
    targetId: id,
    details: {
      name,
      scopes: [...scopes],
      expiresAt: expiresAt?.toISOString() ?? null,
      ...(through !== undefined && { through }),
    },
  });
  return { apiKey: created, plaintext };
}

const isLive = sql`revoked_at is null and (expires_at is null or expires_at > now())`;

/** Lists the keys that work. */
export function listApiKeys(db: Db, projectId: string, page: Page): Promise<ApiKey[]> {
  return db.rows<ApiKey>`
    select ${columns} from api_keys k
    where k.project_id = ${projectId} and ${isLive} ${afterCursor(page, sql`k.id`)}
    order by k.id desc limit ${page.limit + 1}
  `;
}

/** Revokes a key. @throws {AppError} `api_key_not_found` */
export async function revokeApiKey(
  tx: Db,
  by: Actor,
  input: { organizationId: string; projectId: string; id: string },
): Promise<ApiKey> {
  const { organizationId, projectId, id } = input;
  const revoked = await tx.rowOr<ApiKey>('api_key_not_found')`
    update api_keys k set revoked_at = now()
    where k.id = ${id} and k.project_id = ${projectId} and ${isLive}
    returning ${columns}
  `;
  await recordAudit(tx, { organizationId, projectId, by, action: 'api_key.revoked', targetId: id });
  return revoked;
}

/** Records the use of a key, at most once a minute, so that a busy key does not cause a write on every request. */
export async function touchApiKey(db: Db, id: string): Promise<void> {
  await db.run`
    update api_keys set last_used_at = now()
    where id = ${id} and (last_used_at is null or last_used_at < now() - interval '1 minute')
  `;
}

export interface RevokedKey {
  readonly id: string;
  readonly name: string;
  readonly projectId: string;
}

/**
 * Revokes the API keys that a person made in an organization.
 * @param role the person's present role; undefined for a person who leaves. Keys that this role could make stay
 */
export function revokeKeysOf(tx: Db, by: Actor, member: Member, role?: Role): Promise<RevokedKey[]> {
  const { organizationId, userId } = member;
  const writes = sql`exists (select from unnest(scopes) as scope where scope like '%:write')`;
  const isBeyond = role === undefined ? sql`true` : role === 'member' ? writes : sql`false`;
  return revoke(
    tx,
    by,
    organizationId,
    sql`
      created_by = ${userId} and ${isBeyond} and project_id in (
        select id from projects where organization_id = ${organizationId})
    `,
  );
}

/** Revokes every API key of a project that is being deleted. */
export function revokeKeysOfProject(
  tx: Db,
  by: Actor,
  { organizationId, projectId }: { organizationId: string; projectId: string },
): Promise<RevokedKey[]> {
  return revoke(tx, by, organizationId, sql`project_id = ${projectId}`);
}

/** Deletes keys that ended a week ago: each job makes a key, and ended keys count against the limit. */
async function forgetKeysOfTrust(tx: Db, trustId: string): Promise<void> {
  await tx.run`
    delete from api_keys where id in (
      select id from api_keys where ci_trust_id = ${trustId} and expires_at < now() - interval '7 days' limit 100)
  `;
}

async function revoke(tx: Db, by: Actor, organizationId: string, which: Sql): Promise<RevokedKey[]> {
  const revoked = await tx.rows<RevokedKey>`
    update api_keys set revoked_at = now() where revoked_at is null and ${which}
    returning id, name, project_id as "projectId"
  `;
  for (const { id, projectId } of revoked) {
    await recordAudit(tx, { organizationId, projectId, by, action: 'api_key.revoked', targetId: id });
  }
  return revoked;
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PREFIX_LENGTH = 8;
const SECRET_LENGTH = 43;

/** A slow hash would only add time, because a key has 256 random bits. */
function hashApiKey(plaintext: string): Buffer {
  return hash('sha256', plaintext, 'buffer');
}

/** Returns the part of a presented key by which the key is found; undefined for a malformed key. */
export function readApiKey(
  tag: string,
  presented: string,
): { readonly prefix: string; readonly hash: Buffer } | undefined {
  const [presentedTag, prefix, secret, ...rest] = presented.split('_');
  const wellFormed =
    presentedTag === tag && prefix?.length === PREFIX_LENGTH && secret?.length === SECRET_LENGTH && rest.length === 0;
  return wellFormed ? { prefix, hash: hashApiKey(presented) } : undefined;
}

function randomBase62(length: number): string {
  return Array.from({ length }, () => BASE62[randomInt(BASE62.length)]).join('');
}
