import { randomBytes } from 'node:crypto';
import type { SecretBox, SecretPlace } from '#lib/secrets/index.ts';

/** A new signing secret in the form of Standard Webhooks: `whsec_` and base64 of 32 random bytes. */
export function generateWebhookSecret(): string {
  return `${SECRET_PREFIX}${randomBytes(32).toString('base64')}`;
}

export const SECRET_PREFIX = 'whsec_';

/** Webhook secrets as they are stored: sealed to the row of their routine. */
export interface SealedWebhookSecrets {
  seal(routineId: string, secret: string): string;
  /** @throws when the text was altered, belongs to another routine, or is sealed under an unknown key */
  open(routineId: string, sealed: string): string;
}

export function createSealedWebhookSecrets(box: SecretBox): SealedWebhookSecrets {
  return {
    seal: (routineId, secret) => box.seal(secret, place(routineId)),
    open: (routineId, sealed) => box.open(sealed, place(routineId)),
  };
}

// The previous secret has the same place, so that a rotation can move the sealed text from column to column in SQL.
const place = (row: string): SecretPlace => ({ table: 'routines', row, column: 'webhook_secret' });
