import { sql, type Db, deleteBatch } from '#lib/database/index.ts';

/**
 * Kinds of messages: notifications, the digest of results that a person chose, the ping of a monitor, a business
 * enquiry for the operator, a model account whose owner has to sign in again or to pay, a changed webhook address, a
 * result for the people of its routine, a chat that refuses its address, and a program that a person gave access.
 */
export const MESSAGE_KINDS = [
  'failed',
  'paused',
  'budget',
  'partial',
  'recovered',
  'held',
  'question',
  'digest',
  'results_digest',
  'success_ping',
  'model_connection',
  'webhook_changed',
  'result',
  'chat_stopped',
  'program_approved',
  'business_lead',
] as const;
export type MessageKind = (typeof MESSAGE_KINDS)[number];

/**
 * States of a message: `pending` until it is sent, also after a failed attempt; `held` when the mails of this hour are
 * used up, and `merged` once the summary has counted it; `cancelled` when it is no longer wanted; `failed` when it was
 * given up.
 */
export const MESSAGE_STATES = ['pending', 'held', 'sent', 'merged', 'cancelled', 'failed'] as const;
export type MessageState = (typeof MESSAGE_STATES)[number];

/** The text of a mail. Erased when the mail has been sent or given up. */
export interface MailContent {
  readonly subject: string;
  /** Paragraphs of the text. */
  readonly lines: readonly string[];
  /** Sections below the lines. */
  readonly sections?: readonly MailSection[];
  /** Path of the page in the dashboard with the details. */
  readonly path?: string;
  /** Label of the button that opens the page. */
  readonly button?: string;
  readonly replyTo?: string;
  /**
   * Set for a mail about several projects, with a part for each. The subject and the text of the mail are made when it
   * is sent.
   */
  readonly parts?: readonly MailPart[];
}

/**
 * The part of a mail about one project. The part is left out if its reader may no longer read the project, or wants no
 * digest of it.
 */
export interface MailPart {
  readonly projectId: string;
  readonly projectName: string;
  /** Number of new results; `more` is true when there are more results than this number. */
  readonly results: number;
  readonly more: boolean;
  /** Number of entries that need attention. */
  readonly needs: number;
  readonly sections: readonly MailSection[];
}

export interface MailSection {
  readonly heading: string;
  /** Path of the page in the dashboard that the heading links to. */
  readonly path?: string;
  readonly entries: readonly MailEntry[];
  /** A line below the entries. */
  readonly note?: string;
}

/** An entry of a section. Each of its texts is one line without formatting. */
export interface MailEntry {
  readonly title: string;
  /** Path of the entry's page in the dashboard. */
  readonly path: string;
  /** The kind of entry, in a word or two; `tone` rates it. */
  readonly label: string;
  readonly tone: 'good' | 'warn' | 'bad' | 'plain';
  /** Time, cost and similar facts. */
  readonly facts: string;
  readonly lines: readonly string[];
  /** Lines that were added, removed or changed. */
  readonly differences: readonly { readonly sign: '+' | '-' | '~'; readonly text: string }[];
}

/** Routine, run or project that the message is about, if any. */
export interface MessageSubject {
  readonly organizationId: string;
  readonly projectId: string;
  readonly routineId: string | null;
  readonly runId: string | null;
}

/** Returns false for mails about the recipient's own account or its safety, from which no one can unsubscribe. */
export function isUnsubscribable(kind: MessageKind): boolean {
  return !NOT_UNSUBSCRIBABLE.has(kind);
}

const NOT_UNSUBSCRIBABLE: ReadonlySet<MessageKind> = new Set([
  'model_connection',
  'webhook_changed',
  'chat_stopped',
  'program_approved',
  'business_lead',
]);

/** A message about a run, as its detail shows it. */
export interface RunMessage {
  readonly kind: MessageKind;
  /** The masked address of a person, or the host of a monitor; null when the message had no recipient. */
  readonly to: string | null;
  readonly state: MessageState;
  /** Time at which the message reached its state, or was queued if it still waits. */
  readonly at: Date;
  readonly attempts: number;
  readonly nextAttemptAt: Date | null;
  readonly error: string | null;
}

/** The most messages that the detail of a run shows. */
const MOST = 300;

/** Lists the messages about a run, oldest first. The caller has read the run in its project. */
export async function listMessages(db: Db, runId: string): Promise<RunMessage[]> {
  const found = await db.rows<RunMessage & { email: string | null; url: string | null }>`
    select o.kind, o.state, coalesce(o.finished_at, o.created_at) as at, coalesce(w.attempts, o.attempts) as attempts,
      coalesce(w.error, o.error) as error, u.email, o.url,
      case when o.state = 'pending' then coalesce(w.due_at, o.next_attempt_at) end as "nextAttemptAt"
    from outbox o left join users u on u.id = o.user_id
    left join work w on w.kind = o.channel and w.key = o.id and o.state = 'pending'
    where o.run_id = ${runId} order by o.id limit ${MOST}
  `;
  return found.map(({ email, url, ...message }) => ({
    ...message,
    to: email === null ? (URL.parse(url ?? '')?.host ?? null) : masked(email),
  }));
}

function masked(email: string): string {
  return email.replace(/^(.)[^@]*/u, '$1***');
}

/** The age in seconds of the oldest mail that has not been sent, as an SQL expression; 0 when there is none. */
export const oldestUnsentMail = sql`coalesce((
  select extract(epoch from now() - min(created_at)) from outbox where state = 'pending' and channel = 'mail'
), 0)::float8`;

/** Erases the texts of mails about runs and the addresses of monitors. Unsent messages are given up. */
export async function eraseMessages(tx: Db, runIds: readonly string[]): Promise<void> {
  await tx.run`
    update outbox set content = null, url = null,
      error = case when state in ('pending', 'held') then 'its content was erased' else error end,
      finished_at = coalesce(finished_at, now()),
      state = case when state in ('pending', 'held') then 'cancelled' else state end
    where run_id = any(${runIds}) and (content is not null or url is not null or state in ('pending', 'held'))
  `;
}

/**
 * Cancels the unsent messages about a project that is being deleted, and removes the project's part from mails about
 * several projects.
 */
export async function cancelMessages(tx: Db, projectId: string): Promise<void> {
  await tx.run`
    update outbox set state = 'cancelled', error = 'the project was deleted', content = null, url = null,
      finished_at = now()
    where project_id = ${projectId} and state in ('pending', 'held')
  `;
  await tx.run`
    update outbox set content = jsonb_set(content, '{parts}', (
      select coalesce(jsonb_agg(part), '[]') from jsonb_array_elements(content -> 'parts') part
      where part ->> 'projectId' <> ${projectId}
    ))
    where state = 'pending' and channel = 'mail' and kind = 'results_digest' and project_id is null
      and content -> 'parts' @> ${JSON.stringify([{ projectId }])}::jsonb
  `;
}

/** Deletes the messages about runs that are about to be deleted. */
export async function deleteMessages(tx: Db, runIds: readonly string[]): Promise<void> {
  await tx.run`delete from outbox where run_id = any(${runIds})`;
}

/** Deletes messages that are about no run, 90 days after they were sent or given up. */
export function forgetMessages(db: Db, limit: number): Promise<number> {
  return deleteBatch(db, {
    table: 'outbox',
    where: sql`run_id is null and finished_at is not null and finished_at < now() - interval '90 days'`,
    orderBy: sql`finished_at`,
    limit,
  });
}
