import { randomBytes } from 'node:crypto';
import type { Db } from '#lib/database/index.ts';
import type { SecretBox, SecretPlace } from '#lib/secrets/index.ts';

export async function readWebhookSecret(db: Db, projectId: string, id: string): Promise<string | undefined> {
  const found = await db.row<{ secret: string | null }>`
    select webhook_secret as secret from routines where id = ${id} and project_id = ${projectId}
  `;
  return found?.secret ?? undefined;
}

/** Tells whether the secret before the last rotation still signs deliveries. */
export async function isRotating(tx: Db, projectId: string, id: string): Promise<boolean> {
  const found = await tx.row`
    select 1 from routines
    where id = ${id} and project_id = ${projectId} and webhook_secret_previous_until > now()
  `;
  return found !== undefined;
}

/** Replaces the sealed secret. For 24 hours both the old and the new secret may sign deliveries. */
export async function writeWebhookSecret(
  tx: Db,
  input: { id: string; projectId: string; secret: string; keepPrevious: boolean },
): Promise<void> {
  await tx.run`
    update routines set
      webhook_secret_previous = case when ${input.keepPrevious}::boolean then webhook_secret end,
      webhook_secret_previous_until =
        case when ${input.keepPrevious}::boolean and webhook_secret is not null then now() + interval '24 hours' end,
      webhook_secret = ${input.secret}, version = version + 1, updated_at = now()
    where id = ${input.id} and project_id = ${input.projectId}
  `;
}

/** Marks a webhook as failed after a 410, unless the routine has another URL. @returns true if it was marked */
export async function markWebhookGone(
  tx: Db,
  webhook: { routineId: string; projectId: string; webhookUrl: string | null },
): Promise<boolean> {
  const marked = await tx.run`
    update routines set
      webhook_failed_at = coalesce(webhook_failed_at, now()),
      version = version + case when webhook_failed_at is null then 1 else 0 end
    where id = ${webhook.routineId} and project_id = ${webhook.projectId} and webhook_url = ${webhook.webhookUrl}
  `;
  return marked > 0;
}

/** Generates a signing secret in the form of Standard Webhooks: `whsec_` and base64 of 32 random bytes. */
export function generateWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** Seals webhook secrets, each for the row of its routine, and opens them. */
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

// Both secrets are sealed for the same place, so that a rotation can move a sealed text between columns in SQL.
function place(row: string): SecretPlace {
  return { table: 'routines', row, column: 'webhook_secret' };
}
