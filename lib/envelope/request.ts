import { createHash } from 'node:crypto';
import { z } from 'zod';
import { ANY_INSTANCE, claimsSchema, MAX_ENVELOPE_BYTES, MAX_PLAINTEXT_BYTES, type Claims } from './claims.ts';
import { parseExact } from '../exact-json/parse.ts';
import type { EnvelopeKeys } from './keys.ts';
import { open, peek, seal, type HeaderCopies } from './sealed.ts';
import { now } from '../clock.ts';
import { isDeepStrictEqual } from 'node:util';

/** Seconds for which an envelope is accepted after it was made; also the most by which the two clocks may differ. */
const ACCEPT_SECONDS = 60;
const SKEW_SECONDS = 60;

/**
 * Thrown for an envelope that cannot be opened, is too old or is for another instance. The error never says which of
 * these is the case.
 */
export class EnvelopeError extends Error {
  override readonly name = 'EnvelopeError';

  constructor() {
    super('The envelope is not accepted.');
  }
}

const credentialSchema = z.strictObject({
  /** Access token or key. */
  value: z.string().min(1).max(16_384),
  /** Claim of the ID token that names the account, if the provider expects it in a header. */
  account: z.string().min(1).max(1_000).nullable(),
});

const payloadSchema = z.strictObject({
  claims: claimsSchema,
  /** Body as JSON text, so that its hash means the same on both sides. */
  body: z.string(),
  /** Credential, kept out of the body: a retry with a renewed credential is still the same call. */
  credential: credentialSchema.nullable(),
});

export interface RequestToSeal {
  readonly claims: Omit<Claims, 'version' | 'issuedAt' | 'expiresAt' | 'bodyHash'>;
  readonly body: unknown;
  readonly credential: z.output<typeof credentialSchema> | null;
}

export interface OpenedRequest {
  readonly claims: Claims;
  readonly body: unknown;
  readonly credential: z.output<typeof credentialSchema> | null;
  /** SHA-256 of the envelope, the salt of the response's keys. */
  readonly digest: Uint8Array;
}

/** @throws {RangeError} when the plaintext is larger than `MAX_PLAINTEXT_BYTES` */
export async function sealRequest(
  request: RequestToSeal,
  keys: EnvelopeKeys,
  time = now(),
): Promise<{ envelope: string; digest: Uint8Array }> {
  const body = JSON.stringify(request.body);
  const issuedAt = Math.floor(time / 1_000);
  const claims: Claims = {
    ...request.claims,
    version: 1,
    issuedAt,
    expiresAt: issuedAt + ACCEPT_SECONDS,
    bodyHash: sha256(body).toString('hex'),
  };
  const payload = Buffer.from(
    JSON.stringify({ claims, body, credential: request.credential } satisfies z.input<typeof payloadSchema>),
  );
  if (payload.length > MAX_PLAINTEXT_BYTES) throw new RangeError('the request is too large');
  const envelope = await seal(payload, keys.request, headerCopies(claims));
  return { envelope, digest: sha256(envelope) };
}

/**
 * Opens an envelope and checks everything that does not depend on the call.
 * @throws {EnvelopeError} the same for every fault
 */
export async function openRequest(
  envelope: string,
  keys: EnvelopeKeys,
  { instanceId, now: time = now() }: { readonly instanceId: string; readonly now?: number },
): Promise<OpenedRequest> {
  try {
    if (envelope.length > MAX_ENVELOPE_BYTES) throw new EnvelopeError();
    const seconds = time / 1_000;
    // Check the header first, because that is cheap. Only the sealed claims decide.
    if (!isForNow(peek(envelope), instanceId, seconds)) throw new EnvelopeError();
    const { payload, header } = await open(envelope, keys.request);
    if (payload.byteLength > MAX_PLAINTEXT_BYTES) throw new EnvelopeError();
    const { claims, body, credential } = payloadSchema.parse(
      JSON.parse(new TextDecoder('utf8', { fatal: true }).decode(payload)),
    );
    if (!isForNow(headerCopies(claims), instanceId, seconds)) throw new EnvelopeError();
    if (!isDeepStrictEqual(header, { ...headerCopies(claims), alg: 'dir', enc: 'A256GCM' })) {
      throw new EnvelopeError();
    }
    if (sha256(body).toString('hex') !== claims.bodyHash) throw new EnvelopeError();
    return { claims, body: parseExact(body), credential, digest: sha256(envelope) };
  } catch {
    // Make the error here: neither a message nor a cause may distinguish refusals.
    throw new EnvelopeError();
  }
}

/** Returns copies of the claims for a cheap refusal, under their JWT names if they have any (RFC 7519). */
function headerCopies(claims: Claims): HeaderCopies {
  return {
    typ: 'ras-envelope',
    ver: claims.version,
    iss: claims.issuer,
    aud: claims.audience,
    jti: claims.requestId,
    iat: claims.issuedAt,
    exp: claims.expiresAt,
    epoch: claims.epoch,
    purpose: claims.purpose,
  };
}

function isForNow(
  { aud, purpose, iat, exp }: Readonly<Record<string, unknown>>,
  instanceId: string,
  seconds: number,
): boolean {
  const isOurs = aud === instanceId || (aud === ANY_INSTANCE && purpose === 'hello');
  return (
    isOurs &&
    typeof iat === 'number' &&
    typeof exp === 'number' &&
    iat - SKEW_SECONDS <= seconds &&
    seconds <= exp + SKEW_SECONDS &&
    exp - iat <= ACCEPT_SECONDS
  );
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
