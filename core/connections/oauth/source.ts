import { AppError } from '#lib/errors.ts';
import type { Connection } from '../store/connection.ts';
import type { CredentialSource } from '../store/credential-source.ts';
import { grantHeaders, openGrant, type Grant } from './grant.ts';
import { demandScopes, readGrant, retireGrant, type StoredGrant } from './grants-store.ts';
import { renewGrant, type RenewalDeps } from './renewal.ts';
import { createRenewals } from './shared-renewal.ts';

/**
 * Creates the source of credentials for connections that a person signed in to. They are renewed when they have less
 * than a minute left.
 */
export function createOAuthSource(deps: RenewalDeps): CredentialSource {
  const renewals = createRenewals<Grant>();
  const renewed = (
    connection: Connection,
    stale: StoredGrant,
    signal: AbortSignal,
  ): Promise<Grant> => {
    const renew = () => renewGrant(deps, connection, stale);
    return renewals(`${connection.id} ${stale.version}`, renew, signal);
  };

  return {
    async headers(connection, signal) {
      const stored = await readGrant(deps.database, connection);
      if (stored.state !== 'ready') throw new AppError('connection_not_ready');
      const current = openGrant(deps, connection, stored);
      if (!stored.expiring) return grantHeaders(current);
      // Without a refresh token the last minute is used up, and then it is over.
      if (current.refreshToken === null && !stored.expired) return grantHeaders(current);
      try {
        return grantHeaders(await renewed(connection, stored, signal));
      } catch (error) {
        const mayPass = error instanceof AppError && error.code === 'provider_error';
        if (mayPass && !stored.expired) return grantHeaders(current);
        throw error;
      }
    },

    async refused(connection, used, signal, demandedScopes) {
      const stored = await readGrant(deps.database, connection);
      if (stored.state !== 'ready') return undefined;
      const current = openGrant(deps, connection, stored);
      const headers = grantHeaders(current);
      // Someone else has renewed them since.
      if (headers['authorization'] !== used['authorization']) return headers;
      // A renewal cannot widen what was granted (RFC 6749, section 6).
      if (demandedScopes !== undefined) {
        await demandScopes(deps.database, connection, stored.version, demandedScopes);
        return undefined;
      }
      if (current.refreshToken === null) {
        await retireGrant(deps.database, connection, stored.version, 'authorization_revoked');
        return undefined;
      }
      try {
        return grantHeaders(await renewed(connection, stored, signal));
      } catch (error) {
        if (error instanceof AppError && error.code === 'connection_not_ready') return undefined;
        throw error;
      }
    },
  };
}
