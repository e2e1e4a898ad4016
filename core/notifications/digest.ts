import type { Core } from '#core/core.ts';
import { cancelHeld, mergeHeld } from '#core/outbox/index.ts';
import { eachApart, execute, row, rows, sql, transaction, type Db } from '#lib/database/index.ts';
import { readSubscriptions } from './subscription.ts';
import { leftOut, MAIL_INTERVAL, mailTo, takeProjectTurn } from './tell.ts';

/** Routines whose digests are queued in one tick; the next goes on. */
const MOST = 500;

/**
 * Queues a mail for each routine about which something was held back and whose hour is over; without it, its
 * people would learn of that only with the next event. Each has a transaction of its own, so that none locks rows for
 * long.
 * @returns the number of mails
 */
export async function queueDigests(
  { database, log }: Pick<Core, 'database' | 'log'>,
  signal: AbortSignal,
): Promise<number> {
  const due = await rows<{ routineId: string }>(
    database,
    sql`
      select routine_id as "routineId" from notification_states
      where held and mailed_at <= now() - ${MAIL_INTERVAL} order by mailed_at limit ${MOST}
    `,
  );
  let queued = 0;
  await eachApart(
    due,
    async ({ routineId }) => {
      if (await transaction(database, (tx) => queueDigest(tx, routineId))) queued += 1;
    },
    {
      signal,
      failed: (err, { routineId }) => log.error({ err, routineId }, 'a digest was not queued'),
    },
  );
  return queued;
}

async function queueDigest(tx: Db, routineId: string): Promise<boolean> {
  const mine = await row(
    tx,
    sql`
      select from notification_states
      where routine_id = ${routineId} and held and mailed_at <= now() - ${MAIL_INTERVAL}
      for update skip locked
    `,
  );
  if (mine === undefined) return false;
  const [subscription] = await readSubscriptions(tx, [routineId]);
  // Its people may have turned it off meanwhile.
  const to = subscription?.mail?.on.length === 0 ? undefined : subscription?.mail?.to;
  if (subscription === undefined || to === undefined) {
    await cancelHeld(tx, routineId);
    await execute(
      tx,
      sql`update notification_states set held = false where routine_id = ${routineId}`,
    );
    return false;
  }
  // Digests of many routines are a storm as well: beyond ten, the project's digest counts them.
  if (!(await takeProjectTurn(tx, subscription.projectId))) {
    await execute(
      tx,
      sql`update notification_states set held = false where routine_id = ${routineId}`,
    );
    return false;
  }
  const held = await mergeHeld(tx, routineId);
  await execute(
    tx,
    sql`update notification_states set held = false, mailed_at = now() where routine_id = ${routineId}`,
  );
  if (held.length === 0) return false;
  await mailTo(tx, subscription, {
    runId: null,
    to,
    kind: 'digest',
    heading: 'In the last hour',
    lines: leftOut(held),
  });
  return true;
}
