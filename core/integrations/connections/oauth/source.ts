import { AppError } from '#lib/errors.ts';
import {
  createRenewals,
  endsSignIn,
  NotRenewed,
  renewedOr,
  renewUnderLease,
  unlessNotReady,
} from '#lib/shared-renewal.ts';
import { refreshTokens, TokenError, type Tokens } from '#core/clients/oauth/index.ts';
import type { ConnectionsCore } from '../core.ts';
import type { Connection } from '../store/connection.ts';
import type { CredentialSource } from '../store/credential-source.ts';
import {
  grantHeaders,
  issuerOf,
  oauthOf,
  openGrant,
  scopesIn,
  tokenEndpointOf,
  type Grant,
  demandScopes,
  dropLease,
  readStoredGrant,
  replaceGrant,
  retireGrant,
  takeRenewalLease,
  type StoredGrant,
} from './grant.ts';
import { revokeGrant } from '../remove.ts';

/** Creates the source of credentials for connections that a person signed in to. It renews them before they expire. */
export function createOAuthSource(deps: RenewalDeps): CredentialSource {
  const renewals = createRenewals<Grant>();
  const renewed = (connection: Connection, stale: StoredGrant, signal: AbortSignal): Promise<Grant> => {
    const renew = () => renewGrant(deps, connection, stale);
    return renewals(`${connection.id} ${stale.version}`, renew, signal);
  };

  return {
    async headers(connection, signal) {
      const stored = await readStoredGrant(deps.database, connection);
      if (stored.state !== 'ready') throw new AppError('connection_not_ready');
      const current = openGrant(deps, connection, stored);
      if (!stored.expiring) return grantHeaders(current);
      // Without a refresh token, use the tokens until they expire.
      if (current.refreshToken === null && !stored.expired) return grantHeaders(current);
      return grantHeaders(await renewedOr(current, stored, () => renewed(connection, stored, signal)));
    },

    async refused(connection, used, signal, demandedScopes, isSecond = false) {
      const stored = await readStoredGrant(deps.database, connection);
      if (stored.state !== 'ready') return undefined;
      const current = openGrant(deps, connection, stored);
      const headers = grantHeaders(current);
      // Return the tokens that another caller has renewed since.
      if (headers['authorization'] !== used['authorization']) return headers;
      // A person has to sign in for more scopes, because a renewal cannot widen the granted ones (RFC 6749, section 6).
      if (demandedScopes !== undefined) {
        await demandScopes(deps.database, connection, stored.version, demandedScopes);
        return undefined;
      }
      if (current.refreshToken === null || isSecond) {
        await retireGrant(deps.database, connection, stored.version, 'authorization_revoked');
        return undefined;
      }
      const next = await unlessNotReady(renewed(connection, stored, signal));
      return next && grantHeaders(next);
    },
  };
}

type RenewalDeps = Pick<ConnectionsCore, 'connectionSecrets' | 'database' | 'log' | 'outbound' | 'providers'>;

/**
 * Renews the tokens of a connection once, even if several callers in several processes ask: the holder of the lease
 * asks the provider, the others wait for the stored result. New tokens are stored before use, because the provider may
 * have ended the old refresh token.
 * @throws {AppError} `connection_not_ready` when a person has to sign in again, `provider_error` when a later attempt
 * may succeed
 */
function renewGrant(deps: RenewalDeps, connection: Connection, stale: StoredGrant): Promise<Grant> {
  return renewUnderLease({
    take: () => takeRenewalLease(deps.database, connection, stale),
    renew: (held) => renewHeld(deps, connection, held),
    async look() {
      const now = await readStoredGrant(deps.database, connection);
      if (now.state !== 'ready') throw new AppError('connection_not_ready');
      if (now.version !== stale.version) return openGrant(deps, connection, now);
      if (now.refusals?.last !== stale.refusals?.last) throw new NotRenewed({ isRefusal: true });
      return undefined;
    },
  });
}

async function renewHeld(
  deps: RenewalDeps,
  connection: Connection,
  held: StoredGrant & { readonly lease: string },
): Promise<Grant> {
  const { database, connectionSecrets, log } = deps;
  const old = openGrant(deps, connection, held);
  let tokens: Tokens;
  try {
    tokens = await askAgain(deps, connection, held, old);
  } catch (error) {
    if (!(error instanceof TokenError)) {
      await dropLease(database, connection, held);
      throw error;
    }
    const isKnown = error.kind === 'refused';
    const refused = error.kind === 'answered' ? error.answer : undefined;
    if (isKnown || (refused !== undefined && endsSignIn(held.refusals, refused, held))) {
      log.warn({ connectionId: connection.id, detail: error.answer }, 'a sign-in is over');
      const reason = isKnown && held.expired ? 'authorization_expired' : 'authorization_revoked';
      const retired = await retireGrant(database, connection, held.version, reason);
      // If nothing was retired, read the stored tokens: a person has signed in again, or the connection was deleted.
      if (!retired) return openGrant(deps, connection, await readStoredGrant(database, connection));
      throw new AppError('connection_not_ready');
    }
    await dropLease(database, connection, held, refused);
    log.warn({ connectionId: connection.id, detail: error.answer }, 'tokens were not renewed');
    throw new NotRenewed({ isRefusal: refused !== undefined });
  }
  const renewed: Grant = {
    ...old,
    accessToken: tokens.accessToken,
    // Some servers leave out the refresh token on renewal: the old token stays valid (RFC 6749, section 6).
    refreshToken: tokens.refreshToken ?? old.refreshToken,
  };
  const stored = await replaceGrant(database, connection, held.version, {
    sealed: connectionSecrets.seal(connection.id, renewed),
    expiresInSeconds: tokens.expiresInSeconds,
    scopes: tokens.scope === undefined ? undefined : scopesIn(tokens.scope),
  });
  return stored ? renewed : latestGrant(deps, connection, renewed);
}

/** @throws {TokenError} */
function askAgain(
  deps: RenewalDeps,
  { provider }: Connection,
  { scopes }: StoredGrant,
  { refreshToken, issued, resource }: Grant,
): Promise<Tokens> {
  if (refreshToken === null) throw new TokenError('refused', 'no_refresh_token');
  const found = issued === null && provider !== null ? deps.providers.find(provider) : undefined;
  const separator = found === undefined ? ' ' : oauthOf(found).scopeSeparator;
  return refreshTokens(deps, tokenEndpointOf(issuerOf(deps.providers, provider, issued)), {
    refreshToken,
    scope: scopes.join(separator),
    parameters: resource === null ? {} : { resource },
    repeatsLost: true,
  });
}

async function latestGrant(deps: RenewalDeps, connection: Connection, renewed: Grant): Promise<Grant> {
  try {
    return openGrant(deps, connection, await readStoredGrant(deps.database, connection));
  } catch (error) {
    // The connection was deleted meanwhile, by a request that revoked only the old tokens: revoke the new tokens here.
    const isGone = error instanceof AppError && error.code === 'connection_not_found';
    if (isGone) void revokeGrant(deps, connection, renewed);
    throw error;
  }
}
