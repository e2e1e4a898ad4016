import { AppError } from '#lib/errors.ts';
import { OutboundError } from '#lib/outbound/index.ts';
import type { ConnectionsCore } from '../core.ts';
import type { Connection } from '../store/connection.ts';
import { authenticateClient } from './authorization-server.ts';
import { issuerOf, openGrant, type Grant } from './grant.ts';

export type RevocationDeps = Pick<
  ConnectionsCore,
  'connectionSecrets' | 'log' | 'outbound' | 'providers'
>;

const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * Hands the tokens of a connection that is gone back to who issued them (RFC 7009): the refresh token, with which the
 * access tokens go, else the access token. Tried once; the outcome is only logged, without what the provider said.
 */
export async function revokeGrant(
  deps: RevocationDeps,
  connection: Pick<Connection, 'id' | 'provider'>,
  grant: Grant,
): Promise<void> {
  const { log } = deps;
  const connectionId = connection.id;
  try {
    const status = await revoke(deps, connection, grant);
    if (status === undefined) return;
    if (status === 200) log.info({ connectionId }, 'a sign-in was revoked');
    else log.warn({ connectionId, detail: `status ${status}` }, NOT_REVOKED);
  } catch (error) {
    const known = error instanceof OutboundError || error instanceof AppError;
    log.warn({ connectionId, detail: known ? error.code : 'unexpected' }, NOT_REVOKED);
  }
}

const NOT_REVOKED = 'a sign-in was not revoked';

/** Revokes a grant as it is stored. Never throws either. */
export async function revokeStored(
  deps: RevocationDeps,
  connection: Pick<Connection, 'id' | 'provider'>,
  sealed: string,
): Promise<void> {
  let grant;
  try {
    grant = openGrant(deps, connection, { sealed });
  } catch {
    return deps.log.warn({ connectionId: connection.id, detail: 'not readable' }, NOT_REVOKED);
  }
  return revokeGrant(deps, connection, grant);
}

/** @returns the status of the response, or undefined where the server takes no tokens back */
async function revoke(
  { outbound, providers }: RevocationDeps,
  { provider }: Pick<Connection, 'provider'>,
  { issued, accessToken, refreshToken }: Grant,
): Promise<number | undefined> {
  const { server, client } = issuerOf(providers, provider, issued);
  if (server.revocationEndpoint === undefined) return undefined;
  const body = new URLSearchParams({
    token: refreshToken ?? accessToken,
    token_type_hint: refreshToken === null ? 'access_token' : 'refresh_token',
  });
  const headers = new Headers({ accept: 'application/json' });
  authenticateClient(server, client, headers, body);
  const fetch = outbound.fetchWithin({
    timeoutMs: TIMEOUT_MS,
    maxResponseBytes: MAX_ANSWER_BYTES,
  });
  const url = server.revocationEndpoint;
  // A redirect could take the token elsewhere.
  const response = await fetch(url, { method: 'POST', headers, body, redirect: 'error' });
  await response.body?.cancel();
  return response.status;
}
