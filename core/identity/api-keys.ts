import { execute, row, rows, sql, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { afterCursor, type Page } from '#lib/paging.ts';
import { generateApiKey } from './api-key-format.ts';
import type { Scope } from './scopes.ts';

export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

const columns = sql`id, name, prefix, scopes, created_at as "createdAt", last_used_at as "lastUsedAt"`;

/** Creates a key: stores its hash and returns its plain text, which cannot be shown again. */
export async function createApiKey(
  db: Db,
  input: {
    id: string;
    projectId: string;
    userId: string;
    tag: string;
    name: string;
    scopes: readonly Scope[];
  },
): Promise<{ apiKey: ApiKey; plaintext: string }> {
  const { plaintext, prefix, hash } = generateApiKey(input.tag);
  // The id exists only when an earlier attempt of the same request committed and its response was lost: nobody saw
  // that secret, so the new one replaces it.
  const created = await row<ApiKey>(
    db,
    sql`
      insert into api_keys (id, project_id, name, prefix, hash, scopes, created_by)
      values (${input.id}, ${input.projectId}, ${input.name}, ${prefix}, ${hash}, ${input.scopes}, ${input.userId})
      on conflict (id) do update set prefix = excluded.prefix, hash = excluded.hash
        where api_keys.project_id = excluded.project_id
      returning ${columns}
    `,
  );
  if (created === undefined) throw new AppError('internal_error');
  return { apiKey: created, plaintext };
}

export function listApiKeys(db: Db, projectId: string, page: Page): Promise<ApiKey[]> {
  return rows<ApiKey>(
    db,
    sql`
      select ${columns} from api_keys
      where project_id = ${projectId} and revoked_at is null ${afterCursor(page)}
      order by id desc limit ${page.limit + 1}
    `,
  );
}

/** Revokes a key. @throws {AppError} `api_key_not_found` */
export async function revokeApiKey(db: Db, projectId: string, id: string): Promise<ApiKey> {
  const revoked = await row<ApiKey>(
    db,
    sql`
      update api_keys set revoked_at = now()
      where id = ${id} and project_id = ${projectId} and revoked_at is null
      returning ${columns}
    `,
  );
  if (revoked === undefined) throw new AppError('api_key_not_found');
  return revoked;
}

/** Notes the use of a key, at most once a minute so that a busy key does not write on every request. */
export async function touchApiKey(db: Db, id: string): Promise<void> {
  await execute(
    db,
    sql`
      update api_keys set last_used_at = now()
      where id = ${id} and (last_used_at is null or last_used_at < now() - interval '1 minute')
    `,
  );
}
