import {
  compactDecrypt,
  CompactEncrypt,
  CompactSign,
  compactVerify,
  decodeProtectedHeader,
  type CompactJWEHeaderParameters,
} from 'jose';
import type { DirectionKeys, EnvelopeKeys } from './keys.ts';

/** Header fields beyond the algorithms: copies of sealed values. The opener compares copies and values. */
export type HeaderCopies = Readonly<Record<string, string | number>>;

/** Signs with HS256, then encrypts with A256GCM under the key itself (`dir`): a compact JWE of five parts. */
export async function seal(payload: Uint8Array, keys: DirectionKeys, copies: HeaderCopies): Promise<string> {
  const signed = await new CompactSign(payload).setProtectedHeader({ alg: 'HS256' }).sign(keys.sign);
  const header: CompactJWEHeaderParameters = { ...copies, alg: 'dir', enc: 'A256GCM' };
  return new CompactEncrypt(Buffer.from(signed)).setProtectedHeader(header).encrypt(keys.encrypt);
}

/** Opens a message of `seal`. @throws for any other text, without details */
export async function open(sealed: string, keys: DirectionKeys) {
  if (!isCanonical(sealed, 5)) throw new Error('not a sealed text');
  const { plaintext, protectedHeader } = await compactDecrypt(sealed, keys.encrypt, {
    keyManagementAlgorithms: ['dir'],
    contentEncryptionAlgorithms: ['A256GCM'],
  });
  const signed = Buffer.from(plaintext).toString('latin1');
  if (!isCanonical(signed, 3)) throw new Error('not a signed text');
  const { payload } = await compactVerify(signed, keys.sign, { algorithms: ['HS256'] });
  return { payload, header: protectedHeader };
}

/** Reads the header without opening anything, for a cheap refusal. The header is not trusted. */
export function peek(sealed: string): Readonly<Record<string, unknown>> {
  return decodeProtectedHeader(sealed);
}

/**
 * Refuses a part whose last character has left-over bits. A decoder ignores such bits, so a changed text would open as
 * the same message.
 */
function isCanonical(text: string, parts: number): boolean {
  const found = text.split('.');
  return found.length === parts && found.every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
}

export interface StoreBox {
  seal(plaintext: string, requestId: string): Promise<string>;
  /** @throws when the text was altered, or belongs to another request */
  open(sealed: string, requestId: string): Promise<string>;
}

/** Seals results for the runtime's own disk, each bound to its request. */
export function createStoreBox(keys: EnvelopeKeys): StoreBox {
  return {
    seal: (plaintext, requestId) =>
      new CompactEncrypt(Buffer.from(plaintext))
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', typ: 'ras-result', jti: requestId })
        .encrypt(keys.store),
    async open(sealed, requestId) {
      const { plaintext, protectedHeader } = await compactDecrypt(sealed, keys.store, {
        keyManagementAlgorithms: ['dir'],
        contentEncryptionAlgorithms: ['A256GCM'],
      });
      if (protectedHeader['jti'] !== requestId) throw new Error('the result of another request');
      return Buffer.from(plaintext).toString('utf8');
    },
  };
}
