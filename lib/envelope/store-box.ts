import { compactDecrypt, CompactEncrypt } from 'jose';
import type { EnvelopeKeys } from './keys.ts';

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
