import { notRenewed, renewUnderLease } from '#lib/shared-renewal.ts';
import type { Database } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import type { Log } from '#lib/log.ts';
import type { SecretBox } from '#lib/secrets/index.ts';
import type { ModelConnectionRef } from '../connection.ts';
import { revokeTokens } from '../oauth/revocation.ts';
import { oauthOf, type FindServer } from '../oauth/server.ts';
import {
  requestTokens,
  TokenRequestError,
  type OAuthRequestDeps,
  type Tokens,
} from '../oauth/token-request.ts';
import type { ModelProvider } from '../providers/providers.ts';
import { openCredential, sealCredential, type OAuthCredential } from '../store/credential.ts';
import { markNotReady } from '../store/states.ts';
import {
  dropRenewal,
  readCredential,
  replaceCredential,
  takeRenewal,
  type StoredCredential,
} from './queries.ts';

export interface ModelRenewalDeps extends OAuthRequestDeps {
  readonly database: Database;
  readonly secrets: SecretBox;
  readonly findModelServer: FindServer;
  readonly log: Log;
}

/**
 * Renews a credential once, however many ask in however many processes: whoever takes the lease asks the provider, the
 * others wait for what it stores. Nobody uses new tokens before they are stored.
 * @returns false when there are no other tokens now, and it may be that there are never
 * @throws {AppError} `connection_not_ready` when a person has to sign in again, `provider_error` when it may pass
 */
export function renewCredential(
  deps: ModelRenewalDeps,
  provider: ModelProvider,
  ref: ModelConnectionRef,
  stale: StoredCredential,
): Promise<boolean> {
  return renewUnderLease({
    take: () => takeRenewal(deps.database, ref, stale.version),
    renew: (lease) => renewHeld(deps, provider, ref, stale, lease),
    async look() {
      const now = await readCredential(deps.database, ref);
      if (now.state !== 'ready') throw new AppError('connection_not_ready');
      if (now.version !== stale.version) return true;
      return now.spent && !now.leased ? false : undefined;
    },
  });
}

async function renewHeld(
  deps: ModelRenewalDeps,
  provider: ModelProvider,
  ref: ModelConnectionRef,
  held: StoredCredential,
  lease: string,
): Promise<boolean> {
  const { database, secrets, log } = deps;
  let tokens: Tokens;
  const old = openOAuth(secrets, ref, held);
  try {
    tokens = await ask(deps, provider, old);
  } catch (error) {
    const kind = error instanceof TokenRequestError ? error.kind : 'not_sent';
    const detail = error instanceof TokenRequestError ? error.error : 'no_endpoint';
    if (kind === 'refused') {
      const reason = held.expired ? 'authorization_expired' : 'authorization_revoked';
      if (await markNotReady(database, ref, held.version, reason)) {
        log.warn({ connectionId: ref.id, detail }, 'the sign-in of a model account is over');
      }
      throw new AppError('connection_not_ready');
    }
    await dropRenewal(database, ref, lease, { mayBeSentAgain: kind !== 'unknown' });
    if (!(error instanceof TokenRequestError || error instanceof AppError)) throw error;
    log.warn(
      { connectionId: ref.id, detail, kind },
      'the tokens of a model account were not renewed',
    );
    if (kind === 'unknown') return false;
    throw notRenewed();
  }
  const next: OAuthCredential = {
    ...old,
    accessToken: tokens.accessToken,
    // Some leave it out on renewal, and then the old one goes on (RFC 6749, section 6).
    refreshToken: tokens.refreshToken ?? old.refreshToken,
  };
  const stored = await replaceCredential(database, ref, held.version, {
    sealed: sealCredential(secrets, ref.id, next),
    expiresInSeconds: tokens.expiresInSeconds,
  });
  // A person has signed in again or revoked the account meanwhile, who knew of the old tokens only.
  if (!stored) void drop(deps, provider, next);
  return true;
}

async function ask(
  deps: ModelRenewalDeps,
  provider: ModelProvider,
  { refreshToken, clientId }: OAuthCredential,
): Promise<Tokens> {
  if (refreshToken === null) throw new TokenRequestError('refused', 'no_refresh_token');
  const { tokenEndpoint } = await deps.findModelServer(provider);
  return requestTokens(
    deps,
    provider,
    { tokenEndpoint, clientId },
    {
      grant_type: 'refresh_token',
      refresh_token: refreshToken,
    },
  );
}

async function drop(
  deps: ModelRenewalDeps,
  provider: ModelProvider,
  credential: OAuthCredential,
): Promise<void> {
  try {
    await revokeTokens(deps, provider, credential);
  } catch {
    deps.log.warn({ provider: oauthOf(provider).kind }, 'renewed tokens were not revoked');
  }
}

function openOAuth(
  secrets: SecretBox,
  ref: ModelConnectionRef,
  { sealed }: StoredCredential,
): OAuthCredential {
  if (sealed === null) throw new AppError('connection_not_ready');
  const opened = openCredential(secrets, ref.id, sealed);
  if (opened.kind !== 'oauth') throw new TypeError('a key is not renewed');
  return opened;
}
