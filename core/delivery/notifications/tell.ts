import { findRecipients, type MailEvent, type MailSettings } from '#core/accounts/settings/index.ts';
import {
  enqueueMail,
  holdMail,
  mergeHeld,
  recordUnaddressed,
  type HeldCount,
  type MailContent,
  type MessageKind,
  type MessageSubject,
} from '#core/foundation/outbox/index.ts';
import { sql, type Db } from '#lib/database/index.ts';
import { messageSubjectOf, type Subscription } from './subscription.ts';

/** An event of a routine, as its mail words it. */
export interface News {
  readonly event: MailEvent;
  /** The beginning of the subject line, like `Failed`. */
  readonly heading: string;
  readonly lines: readonly string[];
}

/** The shortest time between two mails about a routine. */
export const MAIL_INTERVAL = sql`interval '1 hour'`;

/**
 * Mails a routine's subscribers about an event that they asked for. The mail also counts the events held back before
 * it. The event is held back instead when the routine's mail of this hour has gone, or when it is a failure beyond the
 * ten mails an hour of the project. Locks the row of the routine's state, so that only one of several runs that end at
 * the same time sends the mail.
 */
export async function tell(
  tx: Db,
  subscription: Subscription,
  { runId, news }: { runId: string | null; news: readonly News[] },
): Promise<void> {
  const { mail, routineId } = subscription;
  const wanted = news.filter(({ event }) => mail?.on.includes(event) === true);
  const [first] = wanted;
  if (mail === null || first === undefined) return;
  const subject = messageSubjectOf(subscription, runId);
  if (!(await takeTurn(tx, routineId))) {
    await holdMail(tx, { ...subject, kinds: wanted.map(({ event }) => event) });
    await tx.run`update notification_states set held = true where routine_id = ${routineId} and not held`;
    return;
  }
  const isFailure = wanted.some(({ event }) => event === 'failed' || event === 'paused');
  if (isFailure && !(await takeProjectTurn(tx, subscription.projectId))) {
    // The digest of the project counts it.
    await holdMail(tx, { ...subject, kinds: wanted.map(({ event }) => event) });
    return;
  }
  const held = await mergeHeld(tx, routineId);
  await mailTo(tx, subscription, {
    runId,
    to: mail.to,
    // The pause matters more than the failure that caused it.
    kind: wanted.some(({ event }) => event === 'paused') ? 'paused' : first.event,
    heading: wanted.map(({ heading }) => heading).join(', '),
    lines: [...wanted.flatMap(({ lines }) => lines), ...leftOut(held)],
  });
}

/** Mails the recipients, or records that there are none. */
export async function mailTo(
  tx: Db,
  subscription: Subscription,
  mail: {
    readonly runId: string | null;
    readonly to: MailSettings['to'];
    readonly kind: MailEvent | 'digest';
    readonly heading: string;
    readonly lines: readonly string[];
  },
): Promise<void> {
  const { projectId, projectName, routineId, routineName } = subscription;
  const { runId, kind } = mail;
  await mailRecipients(tx, { ...messageSubjectOf(subscription, runId), kind }, mail.to, {
    subject: `${mail.heading}: ${routineName}`,
    lines: [`Routine "${routineName}" in the project "${projectName}".`, ...mail.lines],
    path: `/p/${projectId}/${runId === null ? `routines/${routineId}` : `runs/${runId}`}`,
  });
}

/** News for the subscribers of a project that is about no routine of it. */
export interface ProjectNews extends Omit<News, 'event'> {
  readonly organizationId: string;
  readonly projectId: string;
  readonly projectName: string;
  readonly to: MailSettings['to'];
  readonly kind: MailEvent | 'digest';
  /** The page of the project in the dashboard with the details. */
  readonly page: string;
}

/** Mails the subscribers of a project, or records that there are none. */
export async function mailProject(tx: Db, news: ProjectNews): Promise<void> {
  const { organizationId, projectId, projectName, kind } = news;
  const subject = { organizationId, projectId, routineId: null, runId: null, kind };
  await mailRecipients(tx, subject, news.to, {
    subject: `${news.heading}: ${projectName}`,
    lines: [`Project "${projectName}".`, ...news.lines],
    path: `/p/${projectId}/${news.page}`,
  });
}

async function mailRecipients(
  tx: Db,
  subject: MessageSubject & { readonly kind: MessageKind },
  to: MailSettings['to'],
  content: MailContent,
): Promise<void> {
  const userIds = await findRecipients(tx, subject.organizationId, to);
  if (userIds.length === 0) await recordUnaddressed(tx, subject);
  else await enqueueMail(tx, { ...subject, userIds, content });
}

/** Lists the events held back since the last mail, as lines of the mail. */
export function leftOut(held: readonly HeldCount[]): string[] {
  if (held.length === 0) return [];
  return [`Since the last mail, and not mailed, as there is at most one an hour: ${heldInWords(held)}.`];
}

/** Counts held events by kind: `3 × failed, 1 × paused`. */
export function heldInWords(held: readonly HeldCount[]): string {
  const counts = new Map<string, number>();
  for (const { kind, count } of held) counts.set(kind, (counts.get(kind) ?? 0) + count);
  const inOrder = [...counts].toSorted(([, a], [, b]) => b - a);
  return inOrder.map(([kind, count]) => `${count} × ${kind}`).join(', ');
}

/** Takes the routine's mail of this hour. @returns false when it has gone */
async function takeTurn(tx: Db, routineId: string): Promise<boolean> {
  const taken = await tx.row`
    insert into notification_states as s (routine_id, mailed_at) values (${routineId}, now())
    on conflict (routine_id) do update set mailed_at = now(), held = false
      where s.mailed_at is null or s.mailed_at <= now() - ${MAIL_INTERVAL}
    returning routine_id
  `;
  return taken !== undefined;
}

/** Mails an hour about failures in a project. One digest reports the rest. */
const MOST_OF_PROJECT = 10;

/**
 * Takes one of the hour's mails about failures in a project. While failures are held back, the hour ends with their
 * digest.
 * @returns false when all were taken
 */
export async function takeProjectTurn(tx: Db, projectId: string): Promise<boolean> {
  const isOver = sql`(t.since <= now() - ${MAIL_INTERVAL} and not t.held)`;
  const taken = await tx.row<{ mails: number }>`
    insert into project_mail_turns as t (project_id, since, mails) values (${projectId}, now(), 1)
    on conflict (project_id) do update set
      since = case when ${isOver} then now() else t.since end,
      mails = case when ${isOver} then 1 else t.mails + 1 end,
      held = not ${isOver} and t.mails >= ${MOST_OF_PROJECT}
    returning mails
  `;
  return taken !== undefined && taken.mails <= MOST_OF_PROJECT;
}
