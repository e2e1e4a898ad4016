import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import type { Log } from '#lib/log.ts';
import type { OutboundClient } from '#lib/outbound/index.ts';
import type { Connection } from '../connection.ts';
import type { ProviderCatalogue } from '../providers/index.ts';
import type { ConnectionSecrets } from '../secrets.ts';
import { clientOfProvider, serverOfProvider } from './managed.ts';
import { grant as grantSchema, type Grant } from './grant.ts';
import {
  dropLease,
  readGrant,
  replaceGrant,
  retireGrant,
  takeLease,
  type StoredGrant,
} from './grants-store.ts';
import { renewTokens, TokenFault, type TokenContext } from './token-endpoint.ts';

export interface RenewalDeps {
  readonly database: Database;
  readonly connectionSecrets: ConnectionSecrets;
  readonly outbound: Pick<OutboundClient, 'fetchWithin'>;
  readonly providers: ProviderCatalogue;
  readonly log: Log;
}

const POLL_MS = 150;
/** As long as a lease can be held by a process that is gone, and the answer it waited for. */
const PATIENCE_MS = 70_000;

/**
 * Renews the tokens of a connection once, however many ask in however many processes: whoever takes the lease in the
 * row asks the provider, the others wait for what it stores. The new tokens are stored before anyone uses them, as the
 * old refresh token may be worth nothing by then.
 * @throws {AppError} `connection_not_ready` when a person has to sign in again, `provider_error` when it may pass
 */
export async function renewGrant(
  deps: RenewalDeps,
  connection: Connection,
  stale: StoredGrant,
): Promise<Grant> {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    const held = await takeLease(deps.database, connection, stale.version);
    if (held !== undefined) return renewHeld(deps, connection, held);
    const now = await readGrant(deps.database, connection);
    if (now.state !== 'ready') throw new AppError('connection_not_ready');
    if (now.version !== stale.version) return openGrant(deps, connection, now);
    if (performance.now() > end) throw unavailable();
    await sleep(POLL_MS);
  }
}

/** @throws {AppError} `connection_not_ready` when there is none */
export function openGrant(
  { connectionSecrets }: Pick<RenewalDeps, 'connectionSecrets'>,
  connection: Connection,
  { sealed }: Pick<StoredGrant, 'sealed'>,
): Grant {
  if (sealed === null) throw new AppError('connection_not_ready');
  return grantSchema.parse(connectionSecrets.open(connection.id, sealed));
}

async function renewHeld(
  deps: RenewalDeps,
  connection: Connection,
  held: StoredGrant & { readonly lease: string },
): Promise<Grant> {
  const { database, connectionSecrets, log } = deps;
  try {
    const old = openGrant(deps, connection, held);
    if (old.refreshToken === null) throw new TokenFault('grant_refused', 'no refresh token');
    const tokens = await renewTokens(contextOf(deps, connection, old), old.refreshToken);
    const renewed: Grant = {
      ...old,
      accessToken: tokens.accessToken,
      refreshToken: tokens.refreshToken ?? old.refreshToken,
    };
    const stored = await replaceGrant(database, connection, held.version, {
      sealed: connectionSecrets.seal(connection.id, renewed),
      expiresInSeconds: tokens.expiresInSeconds,
      scopes: tokens.scope?.split(/[ ,]+/).filter((scope) => scope !== ''),
    });
    // A person has signed in again meanwhile; what they got is the truth.
    return stored ? renewed : openGrant(deps, connection, await readGrant(database, connection));
  } catch (error) {
    if (error instanceof TokenFault && error.kind !== 'unavailable') {
      const { detail } = error;
      log.warn({ connectionId: connection.id, detail }, 'a sign-in is over');
      const reason = held.expired ? 'authorization_expired' : 'authorization_revoked';
      await retireGrant(database, connection, held.version, reason);
      throw new AppError('connection_not_ready');
    }
    await dropLease(database, connection, held.lease);
    if (!(error instanceof TokenFault)) throw error;
    log.warn({ connectionId: connection.id, detail: error.detail }, 'tokens were not renewed');
    throw unavailable();
  }
}

function contextOf(
  deps: RenewalDeps,
  connection: Connection,
  { issued, resource }: Grant,
): TokenContext {
  const { outbound, providers } = deps;
  if (issued !== null) return { outbound, ...issued, resource };
  const provider = providers.find(connection.provider ?? '');
  return {
    outbound,
    server: serverOfProvider(provider),
    client: clientOfProvider(providers, provider),
    resource,
  };
}

function unavailable(): AppError {
  return new AppError('provider_error', 'The sign-in could not be renewed just now; try again.');
}
