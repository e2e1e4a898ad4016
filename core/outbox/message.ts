/**
 * Kinds of messages: what notifications tell of, the ping of a monitor, a business enquiry for the operator, and a model
 * account whose owner has to sign in again.
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
  'business_lead',
] as const;
export type MessageKind = (typeof MESSAGE_KINDS)[number];

/**
 * States of a message. `pending` until it is sent, and again after a failed attempt; `held` while the mail of an hour
 * has gone, and `merged` when a later one has counted it; `cancelled` when nobody is to get it any more, `failed` when
 * it was given up.
 */
export const MESSAGE_STATES = ['pending', 'held', 'sent', 'merged', 'cancelled', 'failed'] as const;
export type MessageState = (typeof MESSAGE_STATES)[number];

export type Channel = 'mail' | 'ping';

/** The text of a mail. Erased when the mail has been sent or given up. */
export interface MailContent {
  readonly subject: string;
  /** Paragraphs. */
  readonly lines: readonly string[];
  /** The page of the user interface that tells more. */
  readonly path?: string;
  readonly replyTo?: string;
}

/** The thing that a message is about, as far as there is one. */
export interface MessageSubject {
  readonly organizationId: string;
  readonly projectId: string;
  readonly routineId: string | null;
  readonly runId: string | null;
}

/** Mails that nobody asked for and nobody can end: they are about the recipient's own account. */
export function isUnsubscribable(kind: MessageKind): boolean {
  return kind !== 'model_connection' && kind !== 'business_lead';
}
