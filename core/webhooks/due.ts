import type { StartableDelivery } from '#core/engine/index.ts';
import { row, rows, sql, transaction, type Database, type Db } from '#lib/database/index.ts';
import { START_LEASE } from './times.ts';

const open = sql`state in ('pending', 'sending')`;
const dueAt = sql`greatest(next_attempt_at, claimed_until)`;

/** The parts of the slots that deliveries of one organization may take, and those of it to one host. */
const OF_ORGANIZATION = 2;
const OF_HOST = 4;

/** Tells whether any delivery waits to be started: a look into a small index. */
export async function anyDue(db: Db): Promise<boolean> {
  const found = await row<{ due: boolean }>(
    db,
    sql`select exists (select from webhook_deliveries where ${open} and ${dueAt} <= now()) as due`,
  );
  return found?.due === true;
}

/**
 * Claims deliveries whose time has come: pending ones that are due, and ones whose attempt was never recorded. No more
 * are under way than live workers have slots, so that those which are started do not queue behind others. Organizations
 * take turns: the next place goes to the one with the fewest under way, and within it to the host with the fewest, the
 * oldest first. An organization has at most half of the slots and one of its receivers at most a quarter, whatever
 * happens to the rest: a receiver that hangs holds its slots for twenty seconds each.
 *
 * One claim at a time, as in the admission of runs, whose walk over an index this is as well. The claimed are leased
 * while their workflows are started.
 */
export function claimDueDeliveries(
  database: Database,
  taskQueue: string,
  limit: number,
): Promise<StartableDelivery[]> {
  return transaction(database, async (tx) => {
    await row(tx, sql`select pg_advisory_xact_lock(hashtextextended('ras:deliveries', 0))`);
    return rows<StartableDelivery>(
      tx,
      sql`
        with recursive room as (
          select coalesce(sum(slots), 0)::integer as slots from worker_slots
          where task_queue = ${taskQueue} and expires_at > now()
        ), under_way as (
          select organization_id, host, count(*) as deliveries from webhook_deliveries
          where ${open} and claimed_until > now() group by organization_id, host
        ), receiver as (
          (select organization_id, host from webhook_deliveries where ${open} order by organization_id, host limit 1)
          union all
          select next.organization_id, next.host from receiver cross join lateral (
            select organization_id, host from webhook_deliveries
            where ${open} and (organization_id, host) > (receiver.organization_id, receiver.host)
            order by organization_id, host limit 1
          ) next
        ), of_receiver as (
          select due.id, due.at, receiver.organization_id, coalesce(u.deliveries, 0) + due.place as turn
          from room, receiver
          left join under_way u on u.organization_id = receiver.organization_id and u.host = receiver.host
          cross join lateral (
            select id, at, row_number() over (order by at) as place from (
              select id, ${dueAt} as at from webhook_deliveries
              where ${open} and organization_id = receiver.organization_id and host = receiver.host and ${dueAt} <= now()
              order by ${dueAt}
              limit greatest(least(${limit}::bigint,
                greatest(room.slots / ${OF_HOST}::integer, 1) - coalesce(u.deliveries, 0)), 0)
            ) oldest
          ) due
        ), of_organization as (
          select r.id, r.at, row_number() over (partition by r.organization_id order by r.turn, r.at) + coalesce((
              select sum(deliveries) from under_way u where u.organization_id = r.organization_id
            ), 0) as turn
          from of_receiver r
        ), chosen as (
          select id from of_organization, room where turn <= greatest(slots / ${OF_ORGANIZATION}::integer, 1)
          order by turn, at
          limit (select greatest(least(${limit}::bigint,
            slots - (select coalesce(sum(deliveries), 0) from under_way)), 0) from room)
        )
        update webhook_deliveries d set state = 'pending', claimed_until = now() + ${START_LEASE}
        from chosen
        -- As it is now: it may have been sent since the statement began.
        where d.id = chosen.id and d.state in ('pending', 'sending') and greatest(d.next_attempt_at, d.claimed_until) <= now()
        returning d.id, d.attempt_count + 1 as attempt, d.project_id as "projectId"
      `,
    );
  });
}
