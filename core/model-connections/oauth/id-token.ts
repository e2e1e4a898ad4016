import { createLocalJWKSet, jwtVerify, type JSONWebKeySet, type JWTPayload } from 'jose';
import { z } from 'zod';
import type { OutboundClient } from '#lib/outbound/index.ts';
import { valueAt } from '#lib/provider-file/index.ts';
import type { ModelProvider } from '../providers/providers.ts';
import { SignInFailure } from '../sign-in/failure.ts';
import { signInOf, type ProviderServer } from './server.ts';

/** Owner of an account by its verified ID token; all null without one. */
export interface AccountIdentity {
  readonly accountId: string | null;
  readonly accountLabel: string | null;
  /** The claim that the provider wants in a header of each call. */
  readonly accountHeader: string | null;
}

/** Signatures by the issuer's own keys; never a shared secret, never none. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'EdDSA',
];
const SKEW_SECONDS = 60;
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 1024 * 1024;

const jwks = z.looseObject({ keys: z.array(z.looseObject({ kty: z.string() })) });

/**
 * Verifies an ID token (OpenID Connect Core, section 3.1.3.7): issuer, audience, nonce, times, and the signature by
 * the keys that the issuer publishes.
 * @throws {SignInFailure} `identity_not_verified`
 */
export async function readIdentity(
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
    const keys = await fetchKeys(outbound, server.jwksUri);
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

async function fetchKeys(
  outbound: Pick<OutboundClient, 'fetchWithin'>,
  url: string,
): Promise<JSONWebKeySet> {
  const fetch = outbound.fetchWithin({ timeoutMs: TIMEOUT_MS, maxResponseBytes: MAX_BYTES });
  const response = await fetch(url, {
    headers: { accept: 'application/json' },
    redirect: 'error',
  });
  return jwks.parse(await response.json());
}

/** Reads a claim by its whole name, which may have dots, or by its path. */
function textOf(claims: JWTPayload, name: string): string | null {
  const value = Object.hasOwn(claims, name) ? claims[name] : valueAt(claims, name);
  const text = typeof value === 'number' ? String(value) : value;
  // It goes into a header or is shown: one line of visible characters.
  return typeof text === 'string' && /^[^\p{C}]{1,300}$/u.test(text) ? text : null;
}
