import { createLocalJWKSet, jwtVerify, type JSONWebKeySet, type JWTPayload } from 'jose';
import { z } from 'zod';
import type { Actor } from '#core/foundation/audit/index.ts';
import type { Tokens } from '#core/clients/oauth/index.ts';
import type { ModelProvider } from '#core/models/providers/index.ts';
import { now } from '#lib/clock.ts';
import { newId } from '#lib/ids.ts';
import type { OutboundClient } from '#lib/outbound/index.ts';
import { valueAt } from '#lib/provider-file/index.ts';
import type { ModelConnection } from '../connection.ts';
import type { AccountsCore } from '../core.ts';
import { revokeTokens, signInOf, type ProviderServer } from '../oauth/server.ts';
import type { OAuthCredential } from '../store/credential.ts';
import { endAttempt } from './attempt-queries.ts';
import type { SignInAttempt, Granted } from './attempt.ts';
import { SignInFailure } from './failure.ts';
import { keepAccount, safeLabel } from './keep.ts';
import type { OpenProvider } from './open-provider.ts';
import { tryCredential } from './try-credential.ts';

type DropDeps = Pick<AccountsCore, 'outbound' | 'findModelServer' | 'log'>;

/**
 * Reads the scopes and the account of a token response. Hands the tokens back if a needed scope is missing or the
 * account cannot be verified.
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
    const expiresAt = tokens.expiresInSeconds === undefined ? null : now() + tokens.expiresInSeconds * 1_000;
    return { kind: 'granted', accessToken, refreshToken, clientId, expiresAt, ...identity };
  } catch (error) {
    void dropGrant(deps, provider, { accessToken, refreshToken, clientId });
    throw error;
  }
}

/**
 * Tries the tokens of an attempt and stores the account, which ends the attempt.
 * @throws {SignInFailure} `not_checked`, `superseded`, and those of `keepAccount`; {AppError} `runtime_unavailable`
 */
export async function finishSignIn(
  deps: AccountsCore,
  { provider, runtime }: OpenProvider,
  attempt: SignInAttempt,
  granted: Granted,
  by: Actor,
): Promise<ModelConnection> {
  const { projectId, connectionId } = attempt;
  const { accessToken, refreshToken, accountHeader: account, clientId } = granted;
  const credential: OAuthCredential = { kind: 'oauth', accessToken, refreshToken, account, clientId };
  const tried = await tryCredential({ runtime, log: deps.log }, { provider, projectId, connectionId }, credential);
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

/** Hands back the tokens of a failed sign-in. Never throws, because callers do not wait: a failure is only logged. */
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

function assertScopes(provider: ModelProvider, granted: string | undefined): void {
  const auth = signInOf(provider);
  // A response without `scope` grants the requested scopes (RFC 6749, section 5.1).
  if (granted === undefined) return;
  const scopes = new Set(granted.split(auth.scopeSeparator).flatMap((part) => part.split(/[ ,]+/)));
  if (auth.requiredScopes.some((scope) => !scopes.has(scope))) {
    throw new SignInFailure('scopes_missing');
  }
}

/** Owner of an account, read from a verified ID token. Without an ID token, all fields are null. */
export interface AccountIdentity {
  readonly accountId: string | null;
  readonly accountLabel: string | null;
  /** Claim that the provider expects in a header of each call. */
  readonly accountHeader: string | null;
}

/** Algorithms that sign with the issuer's own keys. A shared secret and an unsigned token are refused. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'EdDSA'];
const SKEW_SECONDS = 60;
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 1024 * 1024;

const jwks = z.looseObject({ keys: z.array(z.looseObject({ kty: z.string() })) });

/**
 * Verifies an ID token (OpenID Connect Core, section 3.1.3.7): issuer, audience, nonce, times, and the signature by
 * the keys that the issuer publishes.
 * @throws {SignInFailure} `identity_not_verified`
 */
async function readIdentity(
  outbound: Pick<OutboundClient, 'fetchWithin'>,
  provider: ModelProvider,
  server: ProviderServer,
  given: {
    readonly idToken: string | undefined;
    readonly clientId: string;
    readonly nonce: string | undefined;
  },
): Promise<AccountIdentity> {
  if (given.idToken === undefined || server.issuer === undefined) return UNKNOWN;
  if (server.jwksUri === undefined) throw new SignInFailure('identity_not_verified');
  let claims: JWTPayload;
  try {
    const fetch = outbound.fetchWithin({ timeoutMs: TIMEOUT_MS, maxResponseBytes: MAX_BYTES });
    const response = await fetch(server.jwksUri, { headers: { accept: 'application/json' }, redirect: 'error' });
    const keys: JSONWebKeySet = jwks.parse(await response.json());
    const verified = await jwtVerify(given.idToken, createLocalJWKSet(keys), {
      issuer: [server.issuer, server.issuer.replace(/\/$/, ''), `${server.issuer}/`],
      audience: given.clientId,
      algorithms: ALGORITHMS,
      clockTolerance: SKEW_SECONDS,
      requiredClaims: ['sub', 'exp', 'iat'],
    });
    claims = verified.payload;
  } catch {
    throw new SignInFailure('identity_not_verified');
  }
  if (given.nonce !== undefined && claims['nonce'] !== given.nonce) {
    throw new SignInFailure('identity_not_verified');
  }
  const { accountIdClaim, accountLabelClaim } = signInOf(provider);
  const accountId = textOf(claims, accountIdClaim);
  if (accountId === null) throw new SignInFailure('identity_not_verified');
  const header = provider.file.api.accountHeader;
  return {
    accountId,
    accountLabel: accountLabelClaim === undefined ? null : textOf(claims, accountLabelClaim),
    accountHeader: header === undefined ? null : textOf(claims, header.claim),
  };
}

const UNKNOWN: AccountIdentity = { accountId: null, accountLabel: null, accountHeader: null };

function textOf(claims: JWTPayload, name: string): string | null {
  // The name of a claim may contain dots, as a path does: look for the whole name first.
  const value = Object.hasOwn(claims, name) ? claims[name] : valueAt(claims, name);
  const text = typeof value === 'number' ? String(value) : value;
  // The claim goes into a header or is shown, so it must be one line of visible characters.
  return typeof text === 'string' && /^[^\p{C}]{1,300}$/u.test(text) ? text : null;
}
