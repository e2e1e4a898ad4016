import { createHmac, timingSafeEqual } from 'node:crypto';
import { sql, type Db, type Sql } from '#lib/database/index.ts';

/** A person, and the mail that they have unsubscribed from. */
export interface OptOut {
  readonly userId: string;
  /** Id of a routine or a project, the {@link digestScope} of a project, or {@link ALL_DIGESTS}. */
  readonly scopeId: string;
}

/** Names the digests of a project as a scope, so that a person can end them and keep the project's other mails. */
export function digestScope(projectId: string): string {
  return `digest_${projectId}`;
}

/** Names the digests of all projects as one scope. */
export const ALL_DIGESTS = 'digests';

/** SQL condition: the person wants no digests of the project. */
export function hasEndedDigests(userId: Sql, projectId: Sql): Sql {
  return hasOptedOut(userId, sql`${ALL_DIGESTS}, 'digest_' || ${projectId}`);
}

/** SQL condition: the person has opted out of one of these scopes. */
export function hasOptedOut(userId: Sql, scopeIds: Sql): Sql {
  return sql`exists (select from mail_optouts where user_id = ${userId} and scope_id in (${scopeIds}))`;
}

export interface UnsubscribeLinks {
  /** Returns the address of an opt-out. The address works without a session. */
  of(optOut: OptOut): string;
  /** Reads the token at the end of an address of an opt-out; undefined if this service has not signed the token. */
  read(token: string): OptOut | undefined;
}

export const UNSUBSCRIBE_PATH = '/public/unsubscribe/';

/**
 * Signs links with a key that is derived from the encryption key. A link is valid while its key is the current or the
 * previous one.
 */
export function createUnsubscribeLinks(options: {
  readonly publicUrl: string;
  readonly keys: readonly string[];
}): UnsubscribeLinks {
  const keys = options.keys.map((key) =>
    createHmac('sha256', Buffer.from(key, 'base64')).update('unsubscribe links, version 1').digest(),
  );
  const [newest] = keys;
  if (newest === undefined) throw new Error('no key to sign with');
  return {
    of(optOut) {
      const payload = Buffer.from(`${optOut.scopeId}:${optOut.userId}`).toString('base64url');
      const token = `${payload}.${signature(newest, payload).toString('base64url')}`;
      return `${options.publicUrl}${UNSUBSCRIBE_PATH}${token}`;
    },
    read(token) {
      const [, payload, mac] = /^([\w-]{1,400})\.([\w-]{43})$/.exec(token) ?? [];
      if (payload === undefined || mac === undefined) return undefined;
      const given = Buffer.from(mac, 'base64url');
      if (!keys.some((key) => timingSafeEqual(signature(key, payload), given))) return undefined;
      const text = Buffer.from(payload, 'base64url').toString();
      const colon = text.indexOf(':');
      return { scopeId: text.slice(0, colon), userId: text.slice(colon + 1) };
    },
  };
}

function signature(key: Buffer, payload: string): Buffer {
  return createHmac('sha256', key).update(payload).digest();
}

/** Records that the person wants no more mail about the scope. Does nothing if the person is gone. */
export async function optOut(db: Db, optOut: OptOut): Promise<void> {
  await db.run`
    insert into mail_optouts (user_id, scope_id)
    select id, scope_id from users, unnest(${scopesOf(optOut)}::text[]) as scope_id where id = ${optOut.userId}
    on conflict do nothing
  `;
}

export async function optIn(db: Db, optOut: OptOut): Promise<void> {
  await db.run`delete from mail_optouts where user_id = ${optOut.userId} and scope_id = any(${scopesOf(optOut)})`;
}

/** Replaces an opt-out by narrower opt-outs. Does nothing if the person has not made that opt-out. */
export async function narrowOptOut(db: Db, { userId, scopeId }: OptOut, others: readonly string[]): Promise<void> {
  await db.run`
    with ended as (
      delete from mail_optouts where user_id = ${userId} and scope_id = ${scopeId} returning user_id
    )
    insert into mail_optouts (user_id, scope_id)
    select ended.user_id, other from ended, unnest(${others}::text[]) as other
    on conflict do nothing
  `;
}

/**
 * Returns the scopes of an opt-out: a person who wants no mail about a project wants no digest of the project either.
 */
function scopesOf({ scopeId }: OptOut): string[] {
  return scopeId.startsWith('prj_') ? [scopeId, digestScope(scopeId)] : [scopeId];
}
