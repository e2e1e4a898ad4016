import { randomUUID } from 'node:crypto';
import type Stripe from 'stripe';
import { setTimeout as sleep } from 'node:timers/promises';
import { throttle, type ThrottleRule } from '#core/foundation/rate-limits/index.ts';
import { databaseTime, sql, transaction, type Db } from '#lib/database/index.ts';
import { expireOpenCheckouts } from './open-checkouts.ts';
import { fetchSubscriptions, isDeletedCustomer, requestSync } from './customers.ts';
import {
  decideAccess,
  isLive,
  listSubscriptions,
  ownItems,
  readSubscription,
  recordAccess,
  recordPastDue,
  replaceSubscriptions,
} from './entitlement.ts';
import { callProcessor, CustomerGone, raise, type PaymentDeps } from './processor.ts';

/**
 * Time for which one process may sync a customer: longer than the processor's timeout with retries. A process that
 * stalls longer finds another token stored, and writes nothing.
 */
const LEASE = sql`interval '60 seconds'`;

interface Lease {
  readonly organizationId: string;
  readonly customerId: string;
  readonly token: string;
  readonly isDeleted: boolean;
  /** Count of requested synchronizations at the time the lease was taken. */
  readonly requested: number;
}

/**
 * Updates the stored subscriptions and the paid access of an organization from the processor, and repeats this if
 * another sync was requested meanwhile. This is the only writer of paid access. No request is made inside a
 * transaction, and results are written only under the lease. The checkouts of a deleted organization are expired first,
 * so that no payment can come after the listing.
 * @returns false when another process has the lease or there is no customer
 * @throws {AppError} as `callProcessor`; the reconciliation then tries again
 */
export async function syncOrganization(deps: PaymentDeps, organizationId: string): Promise<boolean> {
  for (;;) {
    const lease = await takeLease(deps.database, organizationId);
    if (lease === undefined) return false;
    let more: boolean;
    try {
      more = await replace(deps, lease, await subscriptionsOf(deps, lease));
    } catch (error) {
      await giveBack(deps.database, lease);
      throw error;
    }
    if (!more) return true;
  }
}

async function takeLease(db: Db, organizationId: string): Promise<Lease | undefined> {
  return db.row<Lease>`
    update billing_customers set lease_token = ${randomUUID()}, leased_until = now() + ${LEASE}
    where organization_id = ${organizationId} and customer_id is not null
      and (leased_until is null or leased_until < now())
    returning organization_id as "organizationId", customer_id as "customerId", lease_token as token,
      sync_requested as requested, ${organizationDeleted} as "isDeleted"
  `;
}

/** SQL condition: the organization of a row of `billing_customers` is deleted. */
const organizationDeleted = sql`exists (
          select from organizations o
          where o.id = billing_customers.organization_id and o.deleted_at is not null)`;

/**
 * Lists all subscriptions of a customer, ended ones included, each with all of its items.
 * @returns an empty list for a deleted customer; undefined for a customer whom this account of the processor does not
 * know
 */
async function subscriptionsOf(
  deps: PaymentDeps,
  { customerId: customer, isDeleted }: Lease,
): Promise<Stripe.Subscription[] | undefined> {
  const { processor, watch } = deps;
  const { stripe } = processor;
  try {
    if (isDeleted) await expireOpenCheckouts(deps, customer);
    const found = await fetchSubscriptions(deps, customer);
    for (const { id, items } of found) {
      if (!items.has_more) continue;
      items.data = await callProcessor(watch, () =>
        stripe.subscriptionItems.list({ subscription: id, limit: 100 }).autoPagingToArray({ limit: 1_000 }),
      );
    }
    return found.filter(({ livemode }) => livemode === processor.livemode);
  } catch (error) {
    if (!(error instanceof CustomerGone)) throw error;
    return (await isDeletedCustomer(deps, customer)) ? [] : undefined;
  }
}

/**
 * Writes the listed subscriptions if the lease is still held. For a customer whom the processor does not know, the last
 * known access stays until it expires, because the key may by mistake belong to another account.
 * @returns whether another sync was requested since the lease was taken
 */
async function replace(
  deps: PaymentDeps,
  lease: Lease,
  found: readonly Stripe.Subscription[] | undefined,
): Promise<boolean> {
  const { database, processor } = deps;
  const { organizationId } = lease;
  const written = await transaction(database, async (tx) => {
    const held = await tx.row<{ requested: number; isDeleted: boolean }>`
      select sync_requested as requested, ${organizationDeleted} as "isDeleted"
      from billing_customers
      where organization_id = ${organizationId} and lease_token = ${lease.token} for update
    `;
    // Another process took the lease over or replaced the customer, so the listed subscriptions may be out of date.
    if (held === undefined) return undefined;
    if (found !== undefined) {
      const pastDue = await recordPastDue(tx, organizationId, found);
      const read = found.map((each) => readSubscription(processor, each, pastDue.get(each.id)));
      await replaceSubscriptions(tx, lease, read);
    }
    const stored = await listSubscriptions(tx, organizationId);
    await recordAccess(tx, organizationId, decideAccess(stored, await databaseTime(tx)));
    await tx.run`
      update billing_customers set sync_done = ${lease.requested}, synced_at = now(), attempts = 0,
        next_attempt_at = null, lease_token = null, leased_until = null
      where organization_id = ${organizationId}
    `;
    return held;
  });
  lookForFaults(deps, { organizationId, isDeleted: written?.isDeleted === true }, found ?? []);
  return written !== undefined && written.requested > lease.requested;
}

async function giveBack(db: Db, { organizationId, token }: Lease): Promise<void> {
  await db.run`
    update billing_customers set lease_token = null, leased_until = null, attempts = attempts + 1,
      next_attempt_at = now() + least(30 * power(2, least(attempts, 10)), 3600) * interval '1 second'
    where organization_id = ${organizationId} and lease_token = ${token}
  `;
}

function lookForFaults(
  { watch, processor }: PaymentDeps,
  { organizationId, isDeleted }: { readonly organizationId: string; readonly isDeleted: boolean },
  found: readonly Stripe.Subscription[],
): void {
  const live = found.filter(isLive);
  const ours = live.map((each) => ownItems(processor.prices, each).length);
  for (const [index, { id: subscription }] of live.entries()) {
    if (ours[index] === 0) raise(watch, 'unknown_price', { organizationId, subscription });
  }
  if (live.length > 1 || ours.some((items) => items > 1)) raise(watch, 'several_subscriptions', { organizationId });
  // Alert the operator: a checkout from before the deletion was paid, or a subscription was revived later.
  if (isDeleted && live.length > 0) raise(watch, 'deleted_organization', { organizationId });
}

/** Limits the syncs, with room for two pages that each ask every two seconds while they wait for a payment. */
const REFRESHES: ThrottleRule = { name: 'billing-refresh', limit: 60, windowSeconds: 60 };

/**
 * Syncs an organization while a person waits, for at most `ms`. Does nothing if this happened too often in the last
 * minute, because the processor limits the requests of the whole service.
 */
export async function refreshWithin(deps: PaymentDeps, organizationId: string, ms: number): Promise<void> {
  if ((await throttle(deps.database, REFRESHES, organizationId)) !== undefined) return;
  await requestSync(deps.database, organizationId);
  await syncWithin(deps, organizationId, ms);
}

/** Waits at most `ms` for a sync. A longer sync continues; the reconciliation repeats a failed sync. */
export async function syncWithin(deps: PaymentDeps, organizationId: string, ms: number): Promise<void> {
  const controller = new AbortController();
  const sync = syncOrganization(deps, organizationId).catch((err: unknown) =>
    deps.watch.log.warn({ err, organizationId }, 'a sync with the payment processor failed'),
  );
  const timeout = sleep(ms, undefined, { signal: controller.signal }).catch(() => undefined);
  await Promise.race([sync, timeout]);
  controller.abort();
}
