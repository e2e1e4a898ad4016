import type { Core } from '#core/core.ts';
import type { MailSettings } from '#core/settings/index.ts';
import { mergeHeldOfProject } from '#core/outbox/index.ts';
import { eachApart, execute, row, rows, sql, transaction, type Db } from '#lib/database/index.ts';
import { readSubscriptions, type Subscription } from './subscription.ts';
import { heldInWords, MAIL_INTERVAL, mailProject } from './tell.ts';

/** Projects whose digests are queued in one tick; the next goes on. */
const MOST = 500;

/**
 * Queues a mail for each project whose hour is over and in which more failed than was mailed: the model of a hundred
 * routines may be away for all of them. Each has a transaction of its own, so that none locks rows for long.
 * @returns the number of projects
 */
export async function queueProjectDigests(
  { database, log }: Pick<Core, 'database' | 'log'>,
  signal: AbortSignal,
): Promise<number> {
  const due = await rows<{ projectId: string }>(
    database,
    sql`
      select project_id as "projectId" from project_mail_turns
      where held and since <= now() - ${MAIL_INTERVAL} order by since limit ${MOST}
    `,
  );
  await eachApart(
    due,
    ({ projectId }) => transaction(database, (tx) => queueProjectDigest(tx, projectId)),
    {
      signal,
      failed: (err, { projectId }) => log.error({ err, projectId }, 'a digest was not queued'),
    },
  );
  return due.length;
}

async function queueProjectDigest(tx: Db, projectId: string): Promise<void> {
  const mine = await row(
    tx,
    sql`
      select from project_mail_turns
      where project_id = ${projectId} and held and since <= now() - ${MAIL_INTERVAL}
      for update skip locked
    `,
  );
  if (mine === undefined) return;
  await execute(
    tx,
    sql`update project_mail_turns set held = false, since = now(), mails = 0 where project_id = ${projectId}`,
  );
  const held = await mergeHeldOfProject(tx, projectId);
  const subscriptions = await readSubscriptions(tx, [
    ...new Set(held.map(({ routineId }) => routineId)),
  ]);
  for (const [to, subscribed] of byRecipients(subscriptions)) {
    const [{ organizationId, projectName }] = subscribed;
    const ids = new Set(subscribed.map(({ routineId }) => routineId));
    const ofThese = held.filter(({ routineId }) => ids.has(routineId));
    const routines = ids.size === 1 ? 'One routine' : `${ids.size} routines`;
    await mailProject(tx, {
      organizationId,
      projectId,
      projectName,
      to,
      kind: 'digest',
      heading: 'In the last hour',
      lines: [
        `${routines} had news that was not mailed, as there are at most ten mails of failures an hour about a project: ${heldInWords(ofThese)}.`,
      ],
      page: 'runs',
    });
  }
}

/** Groups subscriptions by recipients, without those whose mail is turned off. */
function byRecipients(subscriptions: readonly Subscription[]) {
  const groups = new Map<string, [MailSettings['to'], [Subscription, ...Subscription[]]]>();
  for (const subscription of subscriptions) {
    const { mail } = subscription;
    if (mail === null || mail.on.length === 0) continue;
    const key = JSON.stringify(mail.to);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [mail.to, [subscription]]);
    else group[1].push(subscription);
  }
  return groups.values();
}
