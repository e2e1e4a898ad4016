import { hash, randomInt, timingSafeEqual } from 'node:crypto';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PREFIX_LENGTH = 8;
const SECRET_LENGTH = 43;

export interface NewApiKey {
  readonly plaintext: string;
  readonly prefix: string;
  readonly hash: Buffer;
}

/** Generates a key `<tag>_<prefix>_<secret>`: 8 characters to look it up, 43 (256 bits) to prove it, from a CSPRNG. */
export function generateApiKey(tag: string): NewApiKey {
  const prefix = randomBase62(PREFIX_LENGTH);
  const plaintext = `${tag}_${prefix}_${randomBase62(SECRET_LENGTH)}`;
  return { plaintext, prefix, hash: hashApiKey(plaintext) };
}

/** Hashes the whole key with SHA-256; with 256 random bits a slow hash would add nothing but time. */
export function hashApiKey(plaintext: string): Buffer {
  return hash('sha256', plaintext, 'buffer');
}

export function sameHash(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Returns the look-up prefix of a well-formed key of this product. */
export function prefixOf(tag: string, presented: string): string | undefined {
  const [presentedTag, prefix, secret, ...rest] = presented.split('_');
  const wellFormed =
    presentedTag === tag &&
    prefix?.length === PREFIX_LENGTH &&
    secret?.length === SECRET_LENGTH &&
    rest.length === 0;
  return wellFormed ? prefix : undefined;
}

function randomBase62(length: number): string {
  return Array.from({ length }, () => BASE62[randomInt(BASE62.length)]).join('');
}
