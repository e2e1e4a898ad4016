import type { Core } from '#core/core.ts';
import type { Engine, StartableDelivery } from '#core/foundation/engine/index.ts';
import { assertWithinLimit, type ThrottleRule } from '#core/foundation/rate-limits/index.ts';
import { AT_ONCE, sql, lockKey, transaction, type Database, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { newId } from '#lib/ids.ts';
import type { Log } from '#lib/log.ts';
import type { Exchange } from '#lib/outbound/index.ts';
import { sendAttempt, type AttemptDeps } from './attempt.ts';
import { TEST_EVENT } from './event.ts';

export interface StartDeliveriesDeps extends Pick<Core, 'database' | 'log'> {
  readonly engine: Pick<Engine, 'startDelivery'>;
  /** Task queue of the workers whose slots limit concurrent deliveries. */
  readonly admission: { readonly rule: { readonly taskQueue: string } };
}

/** Deliveries claimed in one round: few enough to start well within their leases. */
const BATCH = 50;

/** Time for a delivery's workflow to start: less than the minute between ticks, so that the next tick tries again. */
const START_LEASE = sql`interval '55 seconds'`;

/**
 * Starts due deliveries while there is room: after a commit that queued deliveries, after each attempt, and in every
 * tick.
 * @throws when Postgres cannot be reached, or the signal's reason
 */
export async function startDueDeliveries(
  { database, engine, admission, log }: StartDeliveriesDeps,
  { signal, withinMs = 0 }: { signal?: AbortSignal; withinMs?: number } = {},
): Promise<number> {
  const end = performance.now() + withinMs;
  let started = 0;
  signal?.throwIfAborted();
  // Check first, because most nudges find nothing. The check reads one entry of a small index.
  if (!(await anyDue(database))) return started;
  for (;;) {
    signal?.throwIfAborted();
    const due = await claimDueDeliveries(database, admission.rule.taskQueue, BATCH);
    for (const delivery of due) {
      signal?.throwIfAborted();
      // While Temporal is away, each start would wait for its deadline, so the round ends here. The leases expire, and
      // a later tick continues.
      if (!(await startDelivery(engine, delivery, log))) return started;
      started += 1;
    }
    // Claim another batch after a full one: claimed deliveries are leased, so no delivery is in two batches.
    if (due.length < BATCH || performance.now() > end) return started;
  }
}

async function startDelivery(
  engine: Pick<Engine, 'startDelivery'>,
  delivery: StartableDelivery,
  log: Log,
): Promise<boolean> {
  try {
    await engine.startDelivery(delivery);
    return true;
  } catch (err) {
    const { id, projectId } = delivery;
    log.warn({ err, deliveryId: id, projectId }, 'webhook delivery not started; a tick will do it');
    return false;
  }
}

/**
 * Makes a delivery in any state due now, with a whole new retry schedule. Its attempts stay on record, and an attempt
 * that is under way becomes the first of the new schedule.
 * @throws {AppError} `run_not_found`, `delivery_not_found`, `content_erased` when its body is gone, `routine_archived`
 */
export async function redeliver(
  { database: db, work }: Pick<Core, 'database' | 'work'>,
  input: { projectId: string; runId: string; deliveryId: string },
): Promise<void> {
  const { projectId, runId, deliveryId } = input;
  const due = await db.run`
    update webhook_deliveries set
      state = case when ${isBeingSent} then state else 'pending' end,
      ladder_offset = case when ${isBeingSent} then attempt_count - 1 else attempt_count end,
      next_attempt_at = case when ${isBeingSent} then next_attempt_at else ${AT_ONCE} end,
      claimed_until = case when ${isBeingSent} then claimed_until end,
      reason = null, finished_at = null
    where id = ${deliveryId} and run_id = ${runId} and project_id = ${projectId} and body is not null
      and not exists (select from routines r where r.id = routine_id and r.state = 'archived')
  `;
  if (due > 0) return work.nudge('deliveries');
  const run = await db.row<{ delivery: { isErased: boolean } | null }>`
    select (select jsonb_build_object('isErased', d.body is null) from webhook_deliveries d
      where d.id = ${deliveryId} and d.run_id = runs.id) as delivery
    from runs where id = ${runId} and project_id = ${projectId}
  `;
  if (run === undefined) throw new AppError('run_not_found');
  if (run.delivery === null) throw new AppError('delivery_not_found');
  throw new AppError(run.delivery.isErased ? 'content_erased' : 'routine_archived');
}

const isBeingSent = sql`(state = 'sending' and claimed_until > now())`;

const TESTS: ThrottleRule = { name: 'webhook-test', limit: 10, windowSeconds: 60 };

/**
 * Sends a signed test event to the webhook of a routine, once. The test is not recorded, and a 410 stops no deliveries.
 * @throws {AppError} `routine_not_found`, `routine_archived`, `webhook_not_configured`, `rate_limited`
 */
export async function sendTestEvent(
  deps: AttemptDeps,
  { projectId, id }: { readonly projectId: string; readonly id: string },
): Promise<Pick<Exchange, 'status' | 'error' | 'durationMs' | 'responseExcerpt'> & { readonly id: string }> {
  const { database } = deps;
  const routine = await database.row<{ state: string; name: string; webhookUrl: string | null; secret: string | null }>`
    select state, name, webhook_url as "webhookUrl", webhook_secret as secret from routines
    where id = ${id} and project_id = ${projectId}
  `;
  if (routine === undefined) throw new AppError('routine_not_found');
  const { state, name, webhookUrl, secret: sealedSecret } = routine;
  if (state === 'archived') throw new AppError('routine_archived');
  if (webhookUrl === null) throw new AppError('webhook_not_configured');
  await assertWithinLimit(database, TESTS, id, 'Too many test events for this routine.');
  const startedAt = new Date();
  const body = JSON.stringify({ type: TEST_EVENT, timestamp: startedAt, data: { routineId: id, projectId, name } });
  const deliveryId = newId('delivery');
  const event = { deliveryId, routineId: id, startedAt, body, sealedSecret, sealedPreviousSecret: null, webhookUrl };
  return { ...(await sendAttempt(deps, event, undefined)), id: deliveryId };
}

const open = sql`state in ('pending', 'sending')`;
const dueAt = sql`greatest(next_attempt_at, claimed_until)`;

/** An organization may take a half of the slots, and a host of the organization a quarter. */
const OF_ORGANIZATION = 2;
const OF_HOST = 4;

async function anyDue(db: Db): Promise<boolean> {
  const found = await db.row<{ due: boolean }>`
    select exists (select from webhook_deliveries where ${open} and ${dueAt} <= now()) as due
  `;
  return found?.due === true;
}

/**
 * Claims due deliveries: pending deliveries whose time has come, and deliveries whose attempt was never recorded.
 * Claims no more than live workers have free slots, so that started deliveries do not queue behind others.
 * Organizations take turns: next is the organization with the fewest running deliveries, within it the host with the
 * fewest, and within the host the oldest delivery. An organization has at most half of the slots and each of its hosts
 * at most a quarter, even while other slots are free: a receiver that hangs holds its slots for twenty seconds. One
 * claim runs at a time and walks over an index, as the admission of runs does. A claimed delivery is leased while its
 * workflow is started.
 */
export function claimDueDeliveries(database: Database, taskQueue: string, limit: number): Promise<StartableDelivery[]> {
  return transaction(database, async (tx) => {
    await lockKey(tx, 'ras:deliveries');
    return tx.rows<StartableDelivery>`
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
      -- Reads the present row: the delivery may have been sent since the statement began.
      where d.id = chosen.id and d.state in ('pending', 'sending')
      and greatest(d.next_attempt_at, d.claimed_until) <= now()
      returning d.id, d.attempt_count + 1 as attempt, d.project_id as "projectId"
    `;
  });
}
