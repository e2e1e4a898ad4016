import { now } from '#lib/clock.ts';
import { transaction, type Database, type Db } from '#lib/database/index.ts';
import { requestSync } from './customers.ts';
import { EVENT_KINDS, recordEvent } from './events.ts';
import type { Payment } from './payment.ts';
import { callProcessor, type PaymentDeps } from './processor.ts';
import { syncOrganization } from './sync.ts';

/** The most customers of one reconciliation. Requested syncs come first, then customers that have waited longest. */
const BATCH = 50;

/**
 * Age of the oldest events to fetch. Earlier fetches have processed older events, although Stripe keeps events for
 * thirty days.
 */
const EVENTS_BACK_SECONDS = 26 * 3_600;

/** Minute of each hour at which missed events are fetched. */
const EVENTS_MINUTE = 17;

/** Reconciles payments in each tick, and fetches missed events each hour. Does nothing without payment. */
export async function keepPaymentsInStep(
  { database, payment }: { readonly database: Database; readonly payment: Payment },
  signal: AbortSignal,
): Promise<void> {
  const { processor, watch } = payment;
  if (processor === undefined) return;
  const deps = { database, processor, watch };
  if (new Date(now()).getUTCMinutes() === EVENTS_MINUTE) await fetchMissedEvents(deps);
  await reconcilePayments(deps, signal);
}

/**
 * Makes up for missed events: syncs customers that have an open request or an open checkout, whose period has ended, or
 * that were not synced for six hours. A failed sync does not stop the others.
 * @returns the number of synced customers
 */
export async function reconcilePayments(deps: PaymentDeps, signal: AbortSignal): Promise<number> {
  let synced = 0;
  for (const organizationId of await dueForSync(deps.database)) {
    if (signal.aborted) break;
    try {
      if (await syncOrganization(deps, organizationId)) synced += 1;
    } catch (err) {
      deps.watch.log.warn({ err, organizationId }, 'a sync with the payment processor failed');
    }
  }
  if (!signal.aborted) await closeCheckouts(deps);
  return synced;
}

async function dueForSync(db: Db): Promise<string[]> {
  const due = await db.rows<{ id: string }>`
    select c.organization_id as id from billing_customers c
    join organizations o on o.id = c.organization_id
    where c.customer_id is not null and (c.next_attempt_at is null or c.next_attempt_at <= now())
      and (
        c.sync_requested > c.sync_done
        or c.synced_at is null or c.synced_at < now() - interval '6 hours'
        or (o.period_end <= now() and c.synced_at < o.period_end)
        or (c.synced_at < now() - interval '1 minute' and exists (
          select from billing_checkouts k where k.organization_id = c.organization_id
            and k.closed_at is null and k.created_at < now() - interval '1 minute'))
      )
    order by c.sync_requested > c.sync_done desc, c.synced_at nulls first
    limit ${BATCH}
  `;
  return due.map(({ id }) => id);
}

/**
 * Records checkouts that are over, so that no page waits for them. An expired checkout is closed only after a sync has
 * looked for a payment; a paid checkout is closed together with a request for a sync.
 */
async function closeCheckouts({ database, processor, watch }: PaymentDeps): Promise<void> {
  await database.run`
    update billing_checkouts k set closed_at = now() from billing_customers c
    where k.closed_at is null and k.expires_at < now()
      and c.organization_id = k.organization_id and c.synced_at > k.expires_at
  `;
  const open = await database.rows<{ id: string; organizationId: string }>`
    select session_id as id, organization_id as "organizationId" from billing_checkouts
    where closed_at is null and created_at < now() - interval '1 minute'
    order by created_at limit ${BATCH}
  `;
  for (const { id, organizationId } of open) {
    try {
      const { status } = await callProcessor(watch, () => processor.stripe.checkout.sessions.retrieve(id));
      if (status === 'open') continue;
      await transaction(database, async (tx) => {
        if (status === 'complete') await requestSync(tx, organizationId);
        await tx.run`update billing_checkouts set closed_at = now() where session_id = ${id}`;
      });
    } catch (err) {
      watch.log.warn({ err }, 'a checkout could not be checked');
    }
  }
}

/** Fetches the events of the last day and processes those that never arrived. */
export async function fetchMissedEvents(deps: PaymentDeps): Promise<number> {
  const { processor, watch } = deps;
  const since = Math.floor(now() / 1_000) - EVENTS_BACK_SECONDS;
  const events = await callProcessor(watch, () =>
    processor.stripe.events
      .list({ types: [...EVENT_KINDS], created: { gte: since }, limit: 100 })
      .autoPagingToArray({ limit: 10_000 }),
  );
  let missed = 0;
  for (const event of events) if ((await recordEvent(deps, event)) !== undefined) missed += 1;
  return missed;
}
