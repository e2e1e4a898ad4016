import { refreshTokens, TokenError, type Tokens } from '#core/clients/oauth/index.ts';
import type { ModelProvider } from '#core/models/providers/index.ts';
import { now } from '#lib/clock.ts';
import { AppError } from '#lib/errors.ts';
import type { SecretBox } from '#lib/secrets/index.ts';
import {
  createRenewals,
  endsSignIn,
  NotRenewed,
  renewedOr,
  renewUnderLease,
  unlessNotReady,
} from '#lib/shared-renewal.ts';
import type { ModelConnectionRef } from './connection.ts';
import type { AccountsCore } from './core.ts';
import { endpointOf, revokeTokens, signInOf, tokenParametersOf } from './oauth/server.ts';
import {
  callCredential,
  dropRenewal,
  openCredential,
  readStoredCredential,
  replaceCredential,
  sealCredential,
  takeRenewal,
  type ModelCredential,
  type OAuthCredential,
  type StoredCredential,
} from './store/credential.ts';
import { markNotReady } from './store/queries.ts';

/** Credential of one call through the runtime. */
export interface CallCredential {
  readonly credential: { readonly value: string; readonly account: string | null };
  /** Number that distinguishes a credential from later credentials. */
  readonly version: number;
}

/** The credentials of personal accounts, each opened for one call. */
export interface ModelCredentials {
  /**
   * Returns the credential for a call that ends by the deadline (Unix milliseconds). A credential that would expire
   * before the deadline is renewed first.
   * @throws {AppError} `connection_not_ready` without a working credential, `provider_disabled`, `provider_error`
   */
  forCall(
    ref: ModelConnectionRef,
    call: { readonly deadline: number; readonly signal: AbortSignal },
  ): Promise<CallCredential>;
  /**
   * Notes that the provider refused the credential of this version.
   * @returns another credential, to repeat the call with once; undefined if there is none, and the account is then
   * marked as not ready
   */
  refused(ref: ModelConnectionRef, version: number, signal: AbortSignal): Promise<CallCredential | undefined>;
}

/** Time that a credential must remain valid beyond the deadline of its call. */
const MARGIN_MS = 60_000;

export function createModelCredentials(deps: RenewalCore & Pick<AccountsCore, 'modelProviders'>): ModelCredentials {
  const { database, secrets } = deps;
  const renewals = createRenewals<boolean>();
  const renew = (
    provider: ModelProvider,
    ref: ModelConnectionRef,
    stale: StoredCredential,
    signal: AbortSignal,
  ): Promise<boolean> =>
    renewals(`${ref.id} ${stale.version}`, () => renewCredential(deps, provider, ref, stale), signal);

  const readReady = async (ref: ModelConnectionRef) => {
    const stored = await readStoredCredential(database, ref);
    const provider = deps.modelProviders.find(stored.provider);
    if (provider === undefined) throw new AppError('provider_disabled');
    // Refuse to send the credential to a host of another provider.
    if (provider.identity !== stored.providerIdentity || stored.state !== 'ready') {
      throw new AppError('connection_not_ready');
    }
    return { stored, provider, opened: openStored(secrets, ref, stored) };
  };

  const current = async (ref: ModelConnectionRef): Promise<CallCredential> => {
    const { stored, opened } = await readReady(ref);
    return { credential: callCredential(opened), version: stored.version };
  };

  return {
    async forCall(ref, { deadline, signal }) {
      const { stored, provider, opened } = await readReady(ref);
      const asIs = { credential: callCredential(opened), version: stored.version };
      const lasts = outlasts(stored, deadline + MARGIN_MS);
      // If a credential cannot be renewed, use it until the provider refuses it.
      const isFinal = opened.kind === 'api_key' || opened.refreshToken === null;
      if (lasts || isFinal || (stored.spent && !stored.leased)) return asIs;
      return renewedOr(asIs, stored, async () =>
        (await renew(provider, ref, stored, signal)) ? await current(ref) : asIs,
      );
    },

    async refused(ref, version, signal) {
      const ready = await unlessNotReady(readReady(ref));
      if (ready === undefined) return undefined;
      const { stored, provider, opened } = ready;
      // Return the credential that another caller has stored since.
      if (stored.version !== version) return current(ref);
      if (opened.kind === 'api_key') {
        await markNotReady(database, ref, version, 'credential_rejected');
        return undefined;
      }
      if (opened.refreshToken === null || (stored.spent && !stored.leased)) {
        const reason = stored.expired ? 'authorization_expired' : 'authorization_revoked';
        await markNotReady(database, ref, version, reason);
        return undefined;
      }
      const renewed = await unlessNotReady(renew(provider, ref, stored, signal));
      if (renewed === undefined) return undefined;
      if (renewed) return unlessNotReady(current(ref));
      throw new NotRenewed();
    },
  };
}

/**
 * Tells whether a credential lasts until a call ends. If its whole life is shorter than the call, more than half of
 * that life must be left.
 */
function outlasts({ expiresAt, lifeSeconds }: StoredCredential, endsAt: number): boolean {
  if (expiresAt === null || expiresAt.getTime() > endsAt) return true;
  const time = now();
  const lifeMs = (lifeSeconds ?? Infinity) * 1_000;
  return lifeMs <= endsAt - time && expiresAt.getTime() - time > lifeMs / 2;
}

type RenewalCore = Pick<AccountsCore, 'database' | 'findModelServer' | 'log' | 'outbound' | 'secrets'>;

/**
 * Renews a credential once, even if several callers in several processes ask: the caller with the lease asks the
 * provider, the others wait for the stored result. New tokens are stored before they are used.
 * @returns false when the refresh token was sent and no response came back, so there may never be other tokens
 * @throws {AppError} `connection_not_ready` when a person has to sign in again, `provider_error` when a later attempt
 * may succeed
 */
function renewCredential(
  deps: RenewalCore,
  provider: ModelProvider,
  ref: ModelConnectionRef,
  stale: StoredCredential,
): Promise<boolean> {
  return renewUnderLease({
    take: () => takeRenewal(deps.database, ref, stale),
    renew: (lease) => renewHeld(deps, provider, ref, stale, lease),
    async look() {
      const now = await readStoredCredential(deps.database, ref);
      if (now.state !== 'ready') throw new AppError('connection_not_ready');
      if (now.version !== stale.version) return true;
      if (now.refusals?.last !== stale.refusals?.last) throw new NotRenewed({ isRefusal: true });
      return now.spent && !now.leased ? false : undefined;
    },
  });
}

async function renewHeld(
  deps: RenewalCore,
  provider: ModelProvider,
  ref: ModelConnectionRef,
  held: StoredCredential,
  lease: string,
): Promise<boolean> {
  const { database, secrets, log } = deps;
  let tokens: Tokens;
  const old = openStored(secrets, ref, held);
  if (old.kind !== 'oauth') throw new TypeError('a key is not renewed');
  try {
    tokens = await ask(deps, provider, old);
  } catch (error) {
    const { kind, answer: detail } = error instanceof TokenError ? error : { kind: 'away', answer: 'no_endpoint' };
    const refused = kind === 'answered' ? detail : undefined;
    if (kind === 'refused' || (refused !== undefined && endsSignIn(held.refusals, refused, held))) {
      const reason = kind === 'refused' && held.expired ? 'authorization_expired' : 'authorization_revoked';
      if (await markNotReady(database, ref, held.version, reason)) {
        log.warn({ connectionId: ref.id, detail }, 'the sign-in of a model account has ended');
      }
      throw new AppError('connection_not_ready');
    }
    const end = { mayBeSentAgain: kind !== 'unknown', refused, refusals: held.refusals };
    await dropRenewal(database, ref, lease, end);
    if (!(error instanceof TokenError || error instanceof AppError)) throw error;
    log.warn({ connectionId: ref.id, detail, kind }, 'the tokens of a model account were not renewed');
    if (kind === 'unknown') return false;
    throw new NotRenewed({ isRefusal: refused !== undefined });
  }
  const next: OAuthCredential = {
    ...old,
    accessToken: tokens.accessToken,
    // Some servers leave out the refresh token on renewal: the old token stays valid (RFC 6749, section 6).
    refreshToken: tokens.refreshToken ?? old.refreshToken,
  };
  const stored = await replaceCredential(database, ref, held.version, {
    sealed: sealCredential(secrets, ref.id, next),
    expiresInSeconds: tokens.expiresInSeconds,
  });
  // A person has meanwhile signed in again or revoked the account, and the new tokens were not stored: hand them back.
  if (!stored) {
    void revokeTokens(deps, provider, next).catch(() => {
      log.warn({ provider: signInOf(provider).kind }, 'renewed tokens were not revoked');
    });
  }
  return true;
}

async function ask(
  deps: RenewalCore,
  provider: ModelProvider,
  { refreshToken, clientId }: OAuthCredential,
): Promise<Tokens> {
  if (refreshToken === null) throw new TokenError('refused', 'no_refresh_token');
  const { tokenEndpoint } = await deps.findModelServer(provider);
  const { scopes, scopeSeparator } = signInOf(provider);
  return refreshTokens(deps, endpointOf(provider, tokenEndpoint, clientId), {
    refreshToken,
    scope: scopes.join(scopeSeparator),
    parameters: tokenParametersOf(provider),
  });
}

function openStored(secrets: SecretBox, { id }: ModelConnectionRef, { sealed }: StoredCredential): ModelCredential {
  if (sealed === null) throw new AppError('connection_not_ready');
  return openCredential(secrets, id, sealed);
}
