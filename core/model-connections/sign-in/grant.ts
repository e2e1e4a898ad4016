import type { Actor } from '#core/audit/index.ts';
import { newId } from '#lib/ids.ts';
import type { ModelConnection } from '../connection.ts';
import { readIdentity } from '../oauth/id-token.ts';
import { revokeTokens, type Tokens } from '../oauth/token-request.ts';
import { signInOf, type ProviderServer } from '../oauth/server.ts';
import type { ModelProvider } from '../providers/providers.ts';
import { tryCredential } from '../runtime/try-credential.ts';
import type { OAuthCredential } from '../store/credential.ts';
import { keepAccount, safeLabel } from './keep.ts';
import { endAttempt } from './attempt-queries.ts';
import type { Attempt, Granted } from './attempt.ts';
import { SignInFailure } from './failure.ts';
import type { ModelSignInDeps, OpenProvider } from './sign-in-deps.ts';

type DropDeps = Pick<ModelSignInDeps, 'outbound' | 'findModelServer' | 'log'>;

/**
 * Reads what a token response grants: the scopes that are needed, and whose account it is. Tokens that fail here are
 * handed back.
 * @throws {SignInFailure} `scopes_missing`, `identity_not_verified`
 */
export async function readGrant(
  deps: DropDeps,
  provider: ModelProvider,
  server: ProviderServer,
  given: { readonly tokens: Tokens; readonly clientId: string; readonly nonce: string | undefined },
): Promise<Granted> {
  const { tokens, clientId, nonce } = given;
  const { accessToken, idToken } = tokens;
  const refreshToken = tokens.refreshToken ?? null;
  try {
    assertScopes(provider, tokens.scope);
    const proof = { idToken, clientId, nonce };
    const identity = await readIdentity(deps.outbound, provider, server, proof);
    const expiresAt = expiryOf(tokens);
    return { kind: 'granted', accessToken, refreshToken, clientId, expiresAt, ...identity };
  } catch (error) {
    void dropGrant(deps, provider, { accessToken, refreshToken, clientId });
    throw error;
  }
}

/**
 * Tries the tokens of an attempt and stores the account, which ends the attempt.
 * @throws {SignInFailure} `not_checked`, `superseded`, and what `keepAccount` says; {AppError} `runtime_unavailable`
 */
export async function finishSignIn(
  deps: ModelSignInDeps,
  { provider, runtime }: OpenProvider,
  attempt: Attempt,
  granted: Granted,
  by: Actor,
): Promise<ModelConnection> {
  const { projectId, connectionId } = attempt;
  const credential = credentialOf(granted);
  const tried = await tryCredential(
    { runtime, log: deps.log },
    { provider, projectId, connectionId },
    credential,
  );
  if (tried.verdict === 'unchecked') throw new SignInFailure('not_checked');
  return keepAccount(
    deps,
    {
      id: newId('modelConnection'),
      connectionId,
      projectId,
      ownerId: attempt.userId,
      provider,
      accountId: granted.accountId,
      accountLabel: safeLabel(provider, granted.accountLabel),
      credential,
      expiresAt: granted.expiresAt === null ? null : new Date(granted.expiresAt),
      tried,
      by,
    },
    async (tx, id) => {
      const isEnded = await endAttempt(tx, attempt, { state: 'succeeded', connectionId: id });
      if (!isEnded) throw new SignInFailure('superseded');
    },
  );
}

/** Hands back tokens of a sign-in that failed. Callers do not wait for it; a failure is only logged. */
export async function dropGrant(
  deps: DropDeps,
  provider: ModelProvider,
  granted: Pick<Granted, 'accessToken' | 'refreshToken' | 'clientId'>,
): Promise<void> {
  try {
    await revokeTokens(deps, provider, granted);
  } catch {
    deps.log.warn({ provider: provider.slot }, 'tokens of a sign-in that failed were not revoked');
  }
}

function credentialOf({
  accessToken,
  refreshToken,
  accountHeader,
  clientId,
}: Granted): OAuthCredential {
  return { kind: 'oauth', accessToken, refreshToken, account: accountHeader, clientId };
}

/** @throws {SignInFailure} `scopes_missing` */
function assertScopes(provider: ModelProvider, granted: string | undefined): void {
  const auth = signInOf(provider);
  // A response without the field grants what was asked for (RFC 6749, section 5.1).
  if (granted === undefined) return;
  const scopes = new Set(granted.split(auth.scopeSeparator).flatMap((part) => part.split(/[ ,]+/)));
  if (auth.requiredScopes.some((scope) => !scopes.has(scope))) {
    throw new SignInFailure('scopes_missing');
  }
}

function expiryOf({ expiresInSeconds }: Tokens): number | null {
  return expiresInSeconds === undefined ? null : Date.now() + expiresInSeconds * 1_000;
}
