import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { TokenEndpoint } from '#core/clients/oauth/index.ts';
import { sql, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import {
  hasNoNewRefusal,
  oneMoreRefusal,
  refusalsOf,
  renewalMarginSeconds,
  type Refusals,
} from '#lib/shared-renewal.ts';
import type { ProviderCatalogue, OAuthProviderAuth, Provider } from '../providers/catalogue.ts';
import type { Connection, ConnectionError, ConnectionState } from '../store/connection.ts';
import { type ConnectionSecrets, credentialColumns, type NewCredentials } from '../store/credentials.ts';
import {
  authorizationServer,
  oauthClient,
  type AuthorizationServer,
  type OAuthClient,
} from './authorization-server.ts';

/** The tokens of a connection that a person signed in to, in the form in which they are sealed. */
export const grant = z.strictObject({
  kind: z.literal('oauth'),
  accessToken: z.string(),
  refreshToken: z.string().nullable(),
  /**
   * The discovered server and this service's client there; null for a managed provider, whose file and configuration
   * describe both.
   */
  issued: z.strictObject({ server: authorizationServer, client: oauthClient }).nullable(),
  /** The resource indicator (RFC 8707) of the tokens. */
  resource: z.string().nullable(),
});
export type Grant = z.output<typeof grant>;

/**
 * Opens a stored grant.
 * @throws {AppError} `connection_not_ready` if no grant is stored
 */
export function openGrant(
  { connectionSecrets }: { readonly connectionSecrets: ConnectionSecrets },
  connection: { readonly id: string },
  { sealed }: { readonly sealed: string | null },
): Grant {
  if (sealed === null) throw new AppError('connection_not_ready');
  return grant.parse(connectionSecrets.open(connection.id, sealed));
}

export function grantHeaders({ accessToken }: Pick<Grant, 'accessToken'>): Record<string, string> {
  return { authorization: `Bearer ${accessToken}` };
}

/** Returns the authorization server of a provider, from its file. */
export function serverOfProvider(provider: Provider): AuthorizationServer {
  const auth = oauthOf(provider);
  return {
    issuer: auth.issuer,
    authorizationEndpoint: auth.authorizationEndpoint,
    tokenEndpoint: auth.tokenEndpoint,
    revocationEndpoint: auth.revocationEndpoint,
    tokenEndpointAuthMethods: [auth.tokenEndpointAuth],
    sendsIssuer: false,
  };
}

/** Returns the client that the operator registered at the provider. @throws {AppError} `provider_disabled` */
export function clientOfProvider(providers: ProviderCatalogue, provider: Provider): OAuthClient {
  const { clientId, clientSecret } = providers.clientOf(provider);
  return {
    id: clientId,
    secret: clientSecret,
    authMethod: oauthOf(provider).tokenEndpointAuth,
    given: true,
  };
}

/**
 * Returns the issuer of a sign-in's tokens and this service's client there.
 * @throws {AppError} `provider_not_found` and `provider_disabled` when a managed provider is gone
 */
export function issuerOf(
  providers: ProviderCatalogue,
  provider: string | null,
  issued: Grant['issued'],
): { readonly server: AuthorizationServer; readonly client: OAuthClient } {
  if (issued !== null) return issued;
  const found = providers.find(provider ?? '');
  return { server: serverOfProvider(found), client: clientOfProvider(providers, found) };
}

/** Returns the server that issues the tokens of a sign-in, and this service's client there. */
export function tokenEndpointOf({ server, client }: ReturnType<typeof issuerOf>): TokenEndpoint {
  return { url: server.tokenEndpoint, authMethods: server.tokenEndpointAuthMethods, client };
}

/** Splits a list of scopes. Some providers separate the scopes by commas. */
export function scopesIn(text: string): string[] {
  return text.split(/[ ,]+/).filter((scope) => scope !== '');
}

/** @throws {AppError} `invalid_request` when the provider connects in another way */
export function oauthOf({ auth }: Provider): OAuthProviderAuth {
  if (auth.kind === 'oauth') return auth;
  throw new AppError('invalid_request', 'provider: connects with an API key, not by signing in');
}

type ConnectionRef = Pick<Connection, 'id' | 'projectId'>;

export interface StoredGrant {
  readonly sealed: string | null;
  readonly version: number;
  readonly state: ConnectionState;
  /** True when the tokens are due for renewal; see `renewalMarginSeconds`. */
  readonly expiring: boolean;
  /** True when the access token has expired by the clock of the database. */
  readonly expired: boolean;
  /** The scopes that the provider named. */
  readonly scopes: readonly string[];
  /** Further scopes that the tool server has demanded. */
  readonly demandedScopes: readonly string[];
  /** Refusals to renew these tokens so far; null if there was none. */
  readonly refusals: Refusals | null;
}

const grantColumns = sql`
  credentials as sealed, credentials_version as version, state, scopes, demanded_scopes as "demandedScopes",
  coalesce(credentials_expire_at <= now()
    + make_interval(secs => ${renewalMarginSeconds(sql`credentials_life_seconds`)}::float8), false) as expiring,
  coalesce(credentials_expire_at <= now(), false) as expired, ${refusalsOf(sql`credentials_version`)} as refusals
`;

function named({ id, projectId }: ConnectionRef) {
  return sql`id = ${id} and project_id = ${projectId}`;
}

/** @throws {AppError} `connection_not_found` */
export function readStoredGrant(db: Db, connection: ConnectionRef): Promise<StoredGrant> {
  return db.rowOr<StoredGrant>(
    'connection_not_found',
  )`select ${grantColumns} from connections where ${named(connection)}`;
}

/**
 * Takes the right to renew these tokens for 45 seconds. That is longer than the provider may take, so the lease runs
 * out only when its holder is gone. One statement reads the row and takes the lease.
 * @returns undefined when another process holds the lease, or the tokens or their refusals have changed
 */
export async function takeRenewalLease(
  db: Db,
  connection: ConnectionRef,
  { version, refusals }: Pick<StoredGrant, 'refusals' | 'version'>,
): Promise<(StoredGrant & { readonly lease: string }) | undefined> {
  const lease = randomUUID();
  const taken = await db.row<StoredGrant>`
    update connections set renewal_lease = ${lease}, renewal_leased_until = now() + interval '45 seconds'
    where ${named(connection)} and credentials_version = ${version} and state = 'ready'
      and (renewal_leased_until is null or renewal_leased_until <= now())
      and ${hasNoNewRefusal(sql`credentials_version`, refusals)}
    returning ${grantColumns}
  `;
  return taken === undefined ? undefined : { ...taken, lease };
}

/** Gives the lease back without new tokens. @param refused the response in which the server refused the renewal */
export async function dropLease(
  db: Db,
  connection: ConnectionRef,
  { lease, refusals }: Pick<StoredGrant, 'refusals'> & { readonly lease: string },
  refused?: string,
): Promise<void> {
  const noted =
    refused === undefined ? sql`renewal_refusals` : oneMoreRefusal(sql`credentials_version`, refusals, refused);
  await db.run`
    update connections set renewal_lease = null, renewal_leased_until = null, renewal_refusals = ${noted}
    where ${named(connection)} and renewal_lease = ${lease}
  `;
}

/**
 * Replaces these tokens by renewed tokens.
 * @returns false when other tokens were stored meanwhile
 */
export async function replaceGrant(
  db: Db,
  connection: ConnectionRef,
  version: number,
  grant: NewCredentials,
): Promise<boolean> {
  const touched = await db.run`
    update connections set ${credentialColumns(grant)}
    where ${named(connection)} and credentials_version = ${version}
  `;
  return touched === 1;
}

/**
 * Records that these tokens no longer work. Later tokens are left alone.
 * @returns whether these tokens were the stored tokens
 */
export async function retireGrant(
  db: Db,
  connection: ConnectionRef,
  version: number,
  error: ConnectionError,
): Promise<boolean> {
  const touched = await db.run`
    update connections set state = 'needs_reauthorization', public_error = ${error}, updated_at = now(),
      renewal_lease = null, renewal_leased_until = null
    where ${named(connection)} and credentials_version = ${version}
  `;
  return touched === 1;
}

/**
 * Records that a server demands more scopes than these tokens have, so that a person signs in again for them. Scopes
 * that were requested before are not requested again: a person who declined one of them would be asked for it without
 * end (MCP authorization, step-up authorization flow).
 */
export async function demandScopes(
  db: Db,
  connection: ConnectionRef,
  version: number,
  demanded: readonly string[],
): Promise<void> {
  await db.run`
    update connections set state = 'needs_reauthorization', public_error = 'scopes_missing', updated_at = now(),
      demanded_scopes = (array(select distinct unnest(demanded_scopes || ${demanded}::text[])))[1:100],
      renewal_lease = null, renewal_leased_until = null
    where ${named(connection)} and credentials_version = ${version} and state = 'ready'
      and not (cardinality(${demanded}::text[]) > 0 and demanded_scopes @> ${demanded}::text[])
  `;
}
