import { findRecipients, type MailEvent, type MailSettings } from '#core/accounts/settings/index.ts';
import {
  enqueueMail,
  holdMail,
  recordUnaddressed,
  type MailContent,
  type MessageKind,
  type MessageSubject,
} from '#core/foundation/outbox/index.ts';
import { sql, type Db } from '#lib/database/index.ts';
import { messageSubjectOf, type MailSubscription } from './subscription.ts';

/** An event of a routine, in the words of its mail. */
export interface News {
  readonly event: MailEvent;
  /** The beginning of the subject line, like `Failed`. */
  readonly heading: string;
  readonly lines: readonly string[];
}

/** Period in which a routine sends at most one mail, and a project ten. One summary counts all further events. */
export const MAIL_INTERVAL = sql`interval '1 hour'`;

/** The most mails an hour about the routines of a project. */
const MOST_OF_PROJECT = 10;

/**
 * Mails subscribers about an event. Once the routine has sent its mail of this hour, or the project its ten, the event
 * is held for the summary. Locks the routine's state, so that runs that end together send one mail.
 */
export async function tell(
  tx: Db,
  subscription: MailSubscription,
  { runId, news }: { runId: string | null; news: readonly News[] },
): Promise<void> {
  const { mail, routineId, projectId } = subscription;
  const wanted = news.filter(({ event }) => mail?.on.includes(event) === true);
  const [first] = wanted;
  if (mail === null || first === undefined) return;
  if (!(await takeTurn(tx, routineId)) || !(await takeProjectTurn(tx, projectId))) {
    return holdMail(tx, { ...messageSubjectOf(subscription, runId), kinds: wanted.map(({ event }) => event) });
  }
  await mailTo(tx, subscription, {
    runId,
    to: mail.to,
    // Choose the pause, which matters more than the failure that caused it.
    kind: wanted.some(({ event }) => event === 'paused') ? 'paused' : first.event,
    heading: wanted.map(({ heading }) => heading).join(', '),
    lines: wanted.flatMap(({ lines }) => lines),
  });
}

/** Mails the recipients, or records that there are none. */
export async function mailTo(
  tx: Db,
  subscription: MailSubscription,
  mail: {
    readonly runId: string | null;
    readonly to: MailSettings['to'];
    readonly kind: MailEvent;
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
    button: runId === null ? 'Open the routine' : 'Open the run',
  });
}

/** News for the subscribers of a project, about no single routine. */
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

async function takeTurn(tx: Db, routineId: string): Promise<boolean> {
  const taken = await tx.row`
    insert into notification_states as s (routine_id, mailed_at) values (${routineId}, now())
    on conflict (routine_id) do update set mailed_at = now()
      where s.mailed_at is null or s.mailed_at <= now() - ${MAIL_INTERVAL}
    returning routine_id
  `;
  return taken !== undefined;
}

async function takeProjectTurn(tx: Db, projectId: string): Promise<boolean> {
  const isOver = sql`t.since <= now() - ${MAIL_INTERVAL}`;
  const taken = await tx.row`
    insert into project_mail_turns as t (project_id, since, mails) values (${projectId}, now(), 1)
    on conflict (project_id) do update set since = case when ${isOver} then now() else t.since end,
      mails = case when ${isOver} then 1 else t.mails + 1 end
      where ${isOver} or t.mails < ${MOST_OF_PROJECT}
    returning project_id
  `;
  return taken !== undefined;
}
