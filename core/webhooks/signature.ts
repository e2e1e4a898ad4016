import { createHmac } from 'node:crypto';
import { SECRET_PREFIX } from '#core/routines/index.ts';

export interface WebhookMessage {
  /** The delivery's id, the same on every attempt, so that a receiver can recognize a repetition. */
  readonly id: string;
  readonly sentAt: Date;
  readonly body: string;
}

/** Builds the headers of Standard Webhooks 1.0, with a signature for each secret, the newest first. */
export function signedHeaders(
  message: WebhookMessage,
  secrets: readonly string[],
): Record<string, string> {
  const timestamp = String(Math.floor(message.sentAt.getTime() / 1_000));
  const content = `${message.id}.${timestamp}.${message.body}`;
  return {
    'webhook-id': message.id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map((secret) => signature(secret, content)).join(' '),
  };
}

function signature(secret: string, content: string): string {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
}
