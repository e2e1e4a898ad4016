import { z } from 'zod';
import { SLOTS } from '#lib/provider-file/index.ts';

const PURPOSES = ['hello', 'verify', 'catalog', 'run', 'cancel'] as const;

export type Purpose = (typeof PURPOSES)[number];

/**
 * The audience of a `hello`, because its sender does not know the runtime yet. No other purpose may have this audience.
 */
export const ANY_INSTANCE = 'any';

const id = z.string().min(1).max(200);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const unixSeconds = z.int().min(0);

/** Claims about a call, separate from its body. Times are Unix seconds, the deadline Unix milliseconds. */
export const claimsSchema = z.strictObject({
  version: z.literal(1),
  issuer: id,
  /** Instance id of the runtime. */
  audience: id,
  /** Id made of run, step and provider attempt; the same for every delivery of a call. */
  requestId: id,
  issuedAt: unixSeconds,
  /** Time until which the runtime may accept the envelope. */
  expiresAt: unixSeconds,
  /** Epoch of the lease under which the sender works; 0 before the sender has a lease. */
  epoch: z.int().min(0),
  purpose: z.enum(PURPOSES),
  provider: z.enum(SLOTS).nullable(),
  fileHash: sha256.nullable(),
  projectId: id.nullable(),
  connectionId: id.nullable(),
  credentialVersion: z.int().min(0).nullable(),
  runId: id.nullable(),
  step: z.int().min(0).nullable(),
  /** Deadline of the work itself, in Unix milliseconds. */
  deadline: z.int().min(0).nullable(),
  bodyHash: sha256,
});

export type Claims = z.output<typeof claimsSchema>;

/** The most bytes of a message before it is signed and encrypted. */
export const MAX_PLAINTEXT_BYTES = 4 * 1024 * 1024;

/**
 * The longest envelope of a request, and the longest frame of a response: signing and encrypting both write the message
 * in base64url, four characters for three bytes each time.
 */
export const MAX_ENVELOPE_BYTES = Math.ceil((MAX_PLAINTEXT_BYTES * 16) / 9) + 8 * 1024;

/** Time for which the runtime continues a call after its caller has left, because the caller may return. */
export const LONELY_MS = 45_000;
