import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { AppError } from '../errors.ts';

/** Names the place of a ciphertext. The place is authenticated with the text, so a value cannot be moved elsewhere. */
export interface SecretPlace {
  readonly table: string;
  readonly row: string;
  readonly column: string;
}

/**
 * A stored text that this process cannot open: a fault of the operator's keys, never of the server for which the text
 * was stored.
 */
export class SecretUnreadable extends AppError {
  constructor() {
    super(
      'service_unavailable',
      'A stored secret cannot be opened. The operator of this service sets ENCRYPTION_KEY or ENCRYPTION_KEY_PREVIOUS to the key that sealed it.',
    );
  }
}

export interface SecretBox {
  seal(plaintext: string, place: SecretPlace): string;
  /** @throws {SecretUnreadable} when the text was altered, moved, or sealed under an unknown key */
  open(sealed: string, place: SecretPlace): string;
  /** Beginning of every text that is sealed under the current key. */
  readonly currentPrefix: string;
}

/**
 * Creates a box that seals texts by AES-256-GCM (NIST SP 800-38D) with a random 96-bit nonce and a 128-bit tag. A
 * sealed text reads `v1.<key id>.<base64url of nonce, ciphertext, tag>`; the key id is the start of the key's SHA-256.
 * New texts are sealed under `current`; `previous` only opens, during a rotation.
 */
export function createSecretBox(keys: { current: string; previous?: string | undefined }): SecretBox {
  const current = importKey(keys.current);
  const known = new Map([[current.id, current.bytes]]);
  if (keys.previous !== undefined) {
    const previous = importKey(keys.previous);
    known.set(previous.id, previous.bytes);
  }
  return {
    seal(plaintext, place) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, current.bytes, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(additionalData(current.id, place));
      const sealed = Buffer.concat([nonce, cipher.update(plaintext, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `${VERSION}.${current.id}.${sealed.toString('base64url')}`;
    },
    open(sealed, place) {
      const [version, id = '', payload = ''] = sealed.split('.');
      const key = known.get(id);
      const bytes = Buffer.from(payload, 'base64url');
      if (version !== VERSION || key === undefined || bytes.length < NONCE_BYTES + TAG_BYTES) {
        throw new SecretUnreadable();
      }
      const nonce = bytes.subarray(0, NONCE_BYTES);
      const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(additionalData(id, place));
      decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
      const ciphertext = bytes.subarray(NONCE_BYTES, bytes.length - TAG_BYTES);
      try {
        return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString('utf8');
      } catch {
        throw new SecretUnreadable();
      }
    },
    currentPrefix: `${VERSION}.${current.id}.`,
  };
}

const ALGORITHM = 'aes-256-gcm';
const VERSION = 'v1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

function importKey(base64: string): { id: string; bytes: Buffer } {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length !== 32) throw new Error('an encryption key is base64 of 32 bytes');
  return { id: createHash('sha256').update(bytes).digest('hex').slice(0, 8), bytes };
}

// JSON separates the parts, so that different places never give the same bytes.
function additionalData(keyId: string, place: SecretPlace): Buffer {
  return Buffer.from(JSON.stringify([VERSION, keyId, place.table, place.row, place.column]));
}
