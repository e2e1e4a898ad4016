/**
 * Kinds of messages: notifications, the ping of a monitor, a business enquiry for the operator, a model account to
 * which its owner has to sign in again, and results that go elsewhere.
 */
export const MESSAGE_KINDS = [
  'failed',
  'paused',
  'budget',
  'partial',
  'recovered',
  'digest',
  'success_ping',
  'model_connection',
  'webhook_changed',
  'business_lead',
] as const;
export type MessageKind = (typeof MESSAGE_KINDS)[number];

/**
 * States of a message: `pending` until it is sent, also after a failed attempt; `held` while this hour's mail has been
 * sent, and `merged` once a later mail has counted it; `cancelled` when no one wants it any more; `failed` when it was
 * given up.
 */
export const MESSAGE_STATES = ['pending', 'held', 'sent', 'merged', 'cancelled', 'failed'] as const;
export type MessageState = (typeof MESSAGE_STATES)[number];

export type Channel = 'mail' | 'ping';

/** The text of a mail. Erased when the mail has been sent or given up. */
export interface MailContent {
  readonly subject: string;
  /** Paragraphs of the text. */
  readonly lines: readonly string[];
  /** Path of the page in the dashboard with the details. */
  readonly path?: string;
  readonly replyTo?: string;
}

/** The subject of a message: routine, run or project, as far as it has one. */
export interface MessageSubject {
  readonly organizationId: string;
  readonly projectId: string;
  readonly routineId: string | null;
  readonly runId: string | null;
}

/** Returns false for mails about the recipient's own account, or about its safety, which cannot be ended. */
export function isUnsubscribable(kind: MessageKind): boolean {
  return !NOT_UNSUBSCRIBABLE.has(kind);
}

const NOT_UNSUBSCRIBABLE: ReadonlySet<MessageKind> = new Set([
  'model_connection',
  'webhook_changed',
  'business_lead',
]);
