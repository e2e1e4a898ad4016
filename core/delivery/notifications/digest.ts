import type { Core } from '#core/core.ts';
import { cancelHeld, mergeHeld, mergeHeldOfProject } from '#core/foundation/outbox/index.ts';
import type { MailSettings } from '#core/accounts/settings/index.ts';
import { eachApart, sql, transaction, type Db, type Sql } from '#lib/database/index.ts';
import { readSubscriptions, type Subscription } from './subscription.ts';
import { leftOut, MAIL_INTERVAL, mailTo, takeProjectTurn, heldInWords, mailProject } from './tell.ts';

/** Routines, or projects, whose digests one tick queues. The next tick goes on. */
const MOST = 500;

/**
 * Queues a mail for each routine whose hour is over and about which events were held back. Without it people would
 * learn of them only with the next event.
 */
export function queueDigests(core: DigestCore, signal: AbortSignal): Promise<void> {
  const due = sql`
    select routine_id as id from notification_states
    where held and mailed_at <= now() - ${MAIL_INTERVAL} order by mailed_at limit ${MOST}
  `;
  return queueEach(core, signal, { of: 'routineId', due, queue: queueDigest });
}

type DigestCore = Pick<Core, 'database' | 'log'>;

/** Queues each digest that is due in a transaction of its own, so that none locks rows for long. */
async function queueEach(
  { database, log }: DigestCore,
  signal: AbortSignal,
  {
    of,
    due,
    queue,
  }: {
    readonly of: 'routineId' | 'projectId';
    readonly due: Sql;
    readonly queue: (tx: Db, id: string) => Promise<void>;
  },
): Promise<void> {
  await eachApart(
    await database.rows<{ id: string }>`${due}`,
    ({ id }) => transaction(database, (tx) => queue(tx, id)),
    { signal, failed: (err, { id }) => log.error({ err, [of]: id }, 'a digest was not queued') },
  );
}

async function queueDigest(tx: Db, routineId: string): Promise<void> {
  const mine = await tx.row`
    select from notification_states
    where routine_id = ${routineId} and held and mailed_at <= now() - ${MAIL_INTERVAL}
    for update skip locked
  `;
  if (mine === undefined) return;
  const [subscription] = await readSubscriptions(tx, [routineId]);
  // Its people may have turned mails off meanwhile.
  const to = subscription?.mail?.on.length === 0 ? undefined : subscription?.mail?.to;
  const isWanted = subscription !== undefined && to !== undefined;
  if (!isWanted) await cancelHeld(tx, routineId);
  // Digests of many routines would be a storm, too: beyond ten, the project's digest counts them.
  if (!isWanted || !(await takeProjectTurn(tx, subscription.projectId))) {
    await tx.run`update notification_states set held = false where routine_id = ${routineId}`;
    return;
  }
  const held = await mergeHeld(tx, routineId);
  await tx.run`update notification_states set held = false, mailed_at = now() where routine_id = ${routineId}`;
  if (held.length === 0) return;
  await mailTo(tx, subscription, {
    runId: null,
    to,
    kind: 'digest',
    heading: 'In the last hour',
    lines: leftOut(held),
  });
}

/**
 * Queues a mail for each project whose hour is over and in which more runs failed than were mailed. A model that is
 * away fails the runs of a hundred routines at once.
 */
export function queueProjectDigests(core: DigestCore, signal: AbortSignal): Promise<void> {
  const due = sql`
    select project_id as id from project_mail_turns
    where held and since <= now() - ${MAIL_INTERVAL} order by since limit ${MOST}
  `;
  return queueEach(core, signal, { of: 'projectId', due, queue: queueProjectDigest });
}

async function queueProjectDigest(tx: Db, projectId: string): Promise<void> {
  const mine = await tx.row`
    select from project_mail_turns
    where project_id = ${projectId} and held and since <= now() - ${MAIL_INTERVAL}
    for update skip locked
  `;
  if (mine === undefined) return;
  await tx.run`update project_mail_turns set held = false, since = now(), mails = 0 where project_id = ${projectId}`;
  const held = await mergeHeldOfProject(tx, projectId);
  const subscriptions = await readSubscriptions(tx, [...new Set(held.map(({ routineId }) => routineId))]);
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

/** Groups subscriptions by their recipients, without those whose mail is turned off. */
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
