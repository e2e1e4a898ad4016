import { hkdfSync } from 'node:crypto';

/** The keys of one direction, one for signing and one for encrypting. */
export interface DirectionKeys {
  readonly sign: Uint8Array;
  readonly encrypt: Uint8Array;
}

export interface EnvelopeKeys {
  readonly request: DirectionKeys;
  /**
   * Returns the keys of the response to one request, by the SHA-256 of its envelope. No other response opens with them.
   */
  responseTo(requestDigest: Uint8Array): DirectionKeys;
  /** Key of the results that the runtime keeps. */
  readonly store: Uint8Array;
}

const KEY_BYTES = 32;
const NO_SALT = new Uint8Array(0);

/**
 * Derives every key from the shared secret by HKDF-SHA256 (RFC 5869).
 * @param secret base64 of 32 bytes
 */
export function envelopeKeys(secret: string): EnvelopeKeys {
  const material = Buffer.from(secret, 'base64');
  if (material.length !== KEY_BYTES) throw new Error('the secret is base64 of 32 bytes');
  const derive = (salt: Uint8Array, use: string) =>
    new Uint8Array(hkdfSync('sha256', material, salt, `ras-runtime/v1/${use}`, KEY_BYTES));
  return {
    request: { sign: derive(NO_SALT, 'request/sign'), encrypt: derive(NO_SALT, 'request/encrypt') },
    responseTo: (digest) => ({ sign: derive(digest, 'response/sign'), encrypt: derive(digest, 'response/encrypt') }),
    store: derive(NO_SALT, 'store/encrypt'),
  };
}
