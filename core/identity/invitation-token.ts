import { hash, randomBytes } from 'node:crypto';

/** Makes the token of an invitation: 256 random bits, of which only the hash is kept. */
export function newInvitationToken(): { token: string; tokenHash: Buffer } {
  const token = `inv_${randomBytes(32).toString('base64url')}`;
  return { token, tokenHash: hashInvitationToken(token) };
}

/** Hashes with SHA-256; with 256 random bits a slow hash would add nothing but time. */
export function hashInvitationToken(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
