import { createRemoteJWKSet, customFetch, decodeJwt, errors, jwtVerify, type JWTPayload } from 'jose';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { createApiKey } from '#core/accounts/organizations/index.ts';
import { assertWithinLimit, type ThrottleRule } from '#core/foundation/rate-limits/index.ts';
import { sql, transaction, type Database } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { newId } from '#lib/ids.ts';
import { parseJson } from '#lib/json.ts';
import { OutboundError, outboundErrorIn, type OutboundClient } from '#lib/outbound/index.ts';
import { findCiTrusts, type CiTrust } from './ci-trusts.ts';
import type { ProgramKey } from './terminals.ts';

interface CiDeps {
  readonly database: Database;
  readonly outbound: Pick<OutboundClient, 'request' | 'fetchWithin'>;
}

/** Lifetime of a key: long enough for an `apply` that proves routines, and short in case a log shows the key. */
const KEY_MINUTES = 60;

const EXCHANGES: ThrottleRule = { name: 'ci-token', limit: 120, windowSeconds: 60 };

/**
 * Makes a short-lived API key for the ID token of a CI job. The service asks only issuers that the project names for
 * their keys, so a stranger cannot make the service send requests.
 * @throws {AppError} `invalid_id_token`, `rate_limited`, `service_unavailable` while the issuer cannot be reached, and
 * the errors of `createApiKey`
 */
export async function exchangeIdToken(
  deps: CiDeps,
  input: { readonly token: string; readonly projectId: string; readonly tag: string; readonly address: string },
  network: string,
): Promise<ProgramKey> {
  const { database } = deps;
  const { token, projectId, tag, address } = input;
  await assertWithinLimit(database, EXCHANGES, network);
  const issuer = issuerOf(token);
  const trusts = await findCiTrusts(database, projectId, sql`t.issuer = ${issuer}`);
  if (trusts.length === 0) throw refusal(`no CI sign-in of this project trusts the issuer "${issuer.slice(0, 200)}"`);
  const { sub, aud = [] } = await verified(deps, token, issuer);
  // `jose` checks that a token has a subject, but not that it is a text.
  if (typeof sub !== 'string') throw refusal('its subject is not a text');
  const trust = trusts.find(
    ({ audience, subjectPattern }) => [aud].flat().includes(audience) && matches(subjectPattern, sub),
  );
  if (trust === undefined) {
    throw refusal(`no CI sign-in trusts its subject "${sub.slice(0, 200)}" with its audience`);
  }
  return makeKey(database, trust, { sub, projectId, tag, address });
}

/** Reads the issuer of a token before it is verified, when its claims may have any type. */
function issuerOf(token: string): string {
  let issuer: unknown;
  try {
    issuer = decodeJwt(token).iss;
  } catch {
    throw refusal('it is not a JSON Web Token');
  }
  if (typeof issuer !== 'string' || issuer.includes('\0')) throw refusal('it names no issuer');
  return issuer;
}

function refusal(why: string): AppError {
  return new AppError('invalid_id_token', `The ID token is not accepted: ${why}.`);
}

/** Algorithms with a public key; a token that is signed with a shared secret is refused. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];

async function verified({ outbound }: CiDeps, token: string, issuer: string): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(token, await keysOf(outbound, issuer), {
      issuer,
      algorithms: ALGORITHMS,
      requiredClaims: ['sub', 'aud', 'exp', 'iat'],
      clockTolerance: 30,
    });
    return payload;
  } catch (error) {
    const isAway = error instanceof OutboundError || outboundErrorIn(error) !== undefined;
    if (isAway || (error instanceof errors.JOSEError && UNREADABLE.has(error.code))) throw unreadable();
    if (error instanceof errors.JOSEError) throw refusal(error.message);
    throw error;
  }
}

/** Codes of `jose` for an issuer's response without keys, and for no response in time. */
const UNREADABLE: ReadonlySet<string> = new Set(['ERR_JOSE_GENERIC', 'ERR_JWKS_INVALID', 'ERR_JWKS_TIMEOUT']);

function unreadable(): AppError {
  return new AppError('service_unavailable', 'The keys of the issuer cannot be read now.', { 'Retry-After': '5' });
}

type KeySet = ReturnType<typeof createRemoteJWKSet>;

/** The keys of issuers. `jose` fetches the keys again for a token with an unknown key. */
const keySets = new LRUCache<string, KeySet>({ max: 200, ttl: 10 * 60_000 });

const LIMITS = { timeoutMs: 10_000, maxResponseBytes: 256 * 1024 };

async function keysOf(outbound: CiDeps['outbound'], issuer: string): Promise<KeySet> {
  const known = keySets.get(issuer);
  if (known !== undefined) return known;
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const { status, body } = await outbound.request({ url, method: 'GET', ...LIMITS });
  if (status >= 500) throw unreadable();
  const metadata = metadataSchema.safeParse(parseJson(new TextDecoder().decode(body)));
  if (status !== 200 || metadata.data?.issuer !== issuer)
    throw refusal('its issuer publishes no metadata under its own name');
  const keys = createRemoteJWKSet(new URL(metadata.data.jwks_uri), { [customFetch]: outbound.fetchWithin(LIMITS) });
  keySets.set(issuer, keys);
  return keys;
}

const metadataSchema = z.object({ issuer: z.string(), jwks_uri: z.url() });

/** Compares a subject with a pattern, in which one `*` between two colons means any text. */
function matches(pattern: string, subject: string): boolean {
  const parts = subject.split(':');
  const wanted = pattern.split(':');
  return wanted.length === parts.length && wanted.every((each, at) => isPart(each, parts[at] ?? ''));
}

function isPart(pattern: string, part: string): boolean {
  const [before = '', after] = pattern.split('*');
  if (after === undefined) return part === before;
  return part.length >= before.length + after.length && part.startsWith(before) && part.endsWith(after);
}

async function makeKey(
  database: Database,
  trust: CiTrust,
  { sub, projectId, tag, address }: { sub: string; projectId: string; tag: string; address: string },
): Promise<ProgramKey> {
  const { id: trustId, scopes, createdBy } = trust;
  const expiresAt = new Date(Date.now() + KEY_MINUTES * 60_000);
  const name = `${trust.name}: ${sub.replaceAll(/\p{C}+/gu, ' ')}`.slice(0, 200);
  return transaction(database, async (tx) => {
    const project = await tx.rowOr<{ organizationId: string }>('project_not_found')`
      select organization_id as "organizationId" from projects where id = ${projectId} and deleted_at is null
    `;
    const by = { kind: 'person', id: createdBy.id, address } as const;
    const key = { id: newId('apiKey'), ...project, projectId, tag, name, scopes, expiresAt, trustId };
    const { plaintext } = await createApiKey(tx, by, { ...key, through: 'sign-in of a CI job' });
    return { key: plaintext, projectId, scopes, expiresAt };
  });
}
