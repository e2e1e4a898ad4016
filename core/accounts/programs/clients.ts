import { randomBytes } from 'node:crypto';
import { deleteBatch, sql, type Db } from '#lib/database/index.ts';

/** A program that may ask people for access to their projects. */
export interface AssistantClient {
  readonly clientId: string;
  readonly name: string | null;
  readonly redirectUris: readonly string[];
  /** True when the client registered itself. */
  readonly isDynamic: boolean;
}

/** Finds a client that is not switched off. */
export function findClient(db: Db, clientId: string): Promise<AssistantClient | undefined> {
  return db.row<AssistantClient>`
    select client_id as "clientId", name, redirect_uris as "redirectUris", is_dynamic as "isDynamic"
    from oauth_clients where client_id = ${clientId} and disabled is not true
  `;
}

/**
 * Tells whether a client has registered this address. An app on the person's machine may use any port (RFC 8252, 7.3).
 */
export function isRedirectOf({ redirectUris }: AssistantClient, requested: string): boolean {
  if (!URL.canParse(requested)) return false;
  return redirectUris.some(
    (uri) => uri === requested || (LOOPBACK.test(uri) && withoutPort(uri) === withoutPort(requested)),
  );
}

const LOOPBACK = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])[:/]/;

function withoutPort(uri: string): string {
  const url = new URL(uri);
  url.port = '';
  return url.href;
}

/** Returns a client's own name without characters that imitate others. */
export function shownName({ name }: Pick<AssistantClient, 'name'>): string {
  const plain = (name ?? '').normalize('NFKC').replaceAll(/[\p{C}\p{Z}]+/gu, ' ');
  return plain.trim().slice(0, 100) || 'Unnamed client';
}

/** Registers a client for the operator, or changes the addresses of a client. @returns the client id */
export async function enterClient(
  db: Db,
  { name, redirectUris }: { readonly name: string; readonly redirectUris: readonly string[] },
): Promise<string> {
  const entered = await db.row<{ clientId: string }>`
    update oauth_clients set redirect_uris = ${JSON.stringify(redirectUris)}::jsonb, updated_at = now()
    where name = ${name} and not is_dynamic returning client_id as "clientId"
  `;
  if (entered !== undefined) return entered.clientId;
  const clientId = randomBytes(16).toString('hex');
  await db.run`
    insert into oauth_clients (id, client_id, name, redirect_uris, token_endpoint_auth_method, application_type,
      grant_types, response_types, is_dynamic)
    values (${clientId}, ${clientId}, ${name}, ${JSON.stringify(redirectUris)}::jsonb, 'none', 'native',
      '["authorization_code", "refresh_token"]', '["code"]', false)
  `;
  return clientId;
}

/** Deletes clients that registered themselves a day ago and have access to nothing. */
export function forgetClients(db: Db, limit: number): Promise<number> {
  return deleteBatch(db, {
    table: 'oauth_clients',
    where: sql`
      is_dynamic and created_at < now() - interval '1 day'
      and not exists (select from oauth_consents g where g.client_id = oauth_clients.client_id)
    `,
    orderBy: sql`created_at`,
    limit,
  });
}
