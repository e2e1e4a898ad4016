import { findRecipients, type MailEvent, type MailSettings } from '#core/identity/index.ts';
import {
  enqueueMail,
  holdMail,
  mergeHeld,
  recordUnaddressed,
  type HeldCount,
  type MailContent,
  type MessageKind,
  type MessageSubject,
} from '#core/outbox/index.ts';
import { execute, row, sql, type Db } from '#lib/database/index.ts';
import { subjectOf, type Subscription } from './subscription.ts';

/** An event of a routine, worded for its mail. */
export interface News {
  readonly event: MailEvent;
  /** The beginning of the subject line, like `Failed`. */
  readonly heading: string;
  readonly lines: readonly string[];
}

/** Shortest time between two mails about a routine. */
export const MAIL_INTERVAL = sql`interval '1 hour'`;

/**
 * Tells the routine's subscribers an event that they asked for: by a mail, which also counts the events held back
 * before it, or, if this hour's mail has been sent, by holding the event back. Locks the row of the routine's state, so
 * that only one of several runs that end at the same time sends the mail.
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
  const subject = subjectOf(subscription, runId);
  if (!(await takeTurn(tx, routineId))) {
    await holdMail(tx, { ...subject, kinds: wanted.map(({ event }) => event) });
    await execute(
      tx,
      sql`update notification_states set held = true where routine_id = ${routineId} and not held`,
    );
    return;
  }
  const held = await mergeHeld(tx, routineId);
  await mailTo(tx, subscription, {
    runId,
    to: mail.to,
    // The pause matters more than the failure that led to it.
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
  await mailRecipients(tx, { ...subjectOf(subscription, runId), kind }, mail.to, {
    subject: `${mail.heading}: ${routineName}`,
    lines: [`Routine "${routineName}" in the project "${projectName}".`, ...mail.lines],
    path: `/p/${projectId}/${runId === null ? `routines/${routineId}` : `runs/${runId}`}`,
  });
}

/** News for the subscribers of a project that are of no routine in it. */
export interface ProjectNews extends Omit<News, 'event'> {
  readonly organizationId: string;
  readonly projectId: string;
  readonly projectName: string;
  readonly to: MailSettings['to'];
  readonly kind: MailEvent;
  /** The page of the project in the dashboard that tells more. */
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

/** Lists what was held back since the last mail, as lines for the mail. */
export function leftOut(held: readonly HeldCount[]): string[] {
  if (held.length === 0) return [];
  const counts = held.map(({ kind, count }) => `${count} × ${kind}`).join(', ');
  return [`Since the last mail, and not mailed, as there is at most one an hour: ${counts}.`];
}

/** Takes this hour's mail. @returns false when it was taken before */
async function takeTurn(tx: Db, routineId: string): Promise<boolean> {
  const taken = await row(
    tx,
    sql`
      insert into notification_states as s (routine_id, mailed_at) values (${routineId}, now())
      on conflict (routine_id) do update set mailed_at = now(), held = false
        where s.mailed_at is null or s.mailed_at <= now() - ${MAIL_INTERVAL}
      returning routine_id
    `,
  );
  return taken !== undefined;
}
