import { randomBytes } from 'node:crypto';
import type { SecretBox, SecretPlace } from '#lib/secrets/index.ts';

/** Generates a signing secret in the form of Standard Webhooks: `whsec_` and base64 of 32 random bytes. */
export function generateWebhookSecret(): string {
  return `${SECRET_PREFIX}${randomBytes(32).toString('base64')}`;
}

export const SECRET_PREFIX = 'whsec_';

/** Seals webhook secrets to the row of their routine, and opens them. */
export interface SealedWebhookSecrets {
  seal(routineId: string, secret: string): string;
  /** Opens a sealed secret. @throws when it was altered, belongs to another routine, or its key is unknown */
  open(routineId: string, sealed: string): string;
}

export function createSealedWebhookSecrets(box: SecretBox): SealedWebhookSecrets {
  return {
    seal: (routineId, secret) => box.seal(secret, place(routineId)),
    open: (routineId, sealed) => box.open(sealed, place(routineId)),
  };
}

// The previous secret has the same place, so that a rotation can move the sealed text from column to column in SQL.
function place(row: string): SecretPlace {
  return { table: 'routines', row, column: 'webhook_secret' };
}
