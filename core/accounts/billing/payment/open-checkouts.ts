import { setTimeout as sleep } from 'node:timers/promises';
import type Stripe from 'stripe';
import type { Database, Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { callProcessor, type ProcessorDeps } from './processor.ts';

/** Time that a caller waits for another checkout of the same organization. */
const TURN_MS = 15_000;

/**
 * Calls `work` while no other checkout of the organization begins anywhere. A lease keeps other checkouts out; a
 * transaction would have to stay open during the requests of `work`.
 * @throws {AppError} `service_unavailable` when another checkout takes too long
 */
export async function oneCheckoutAtATime<T>(
  database: Database,
  organizationId: string,
  work: (attempt: number) => Promise<T>,
): Promise<T> {
  const attempt = await takeTurn(database, organizationId);
  try {
    return await work(attempt);
  } finally {
    await database.run`
      update billing_customers set checkout_leased_until = null
      where organization_id = ${organizationId} and checkout_attempt = ${attempt}
    `;
  }
}

/** Tells whether this attempt is the latest of its organization. After a lease ends, a newer attempt may begin. */
export async function isLatestAttempt(db: Db, organizationId: string, attempt: number): Promise<boolean> {
  const latest = await db.row`
    select from billing_customers
    where organization_id = ${organizationId} and checkout_attempt = ${attempt}
  `;
  return latest !== undefined;
}

async function takeTurn(db: Db, organizationId: string): Promise<number> {
  const end = Date.now() + TURN_MS;
  for (;;) {
    const taken = await db.row<{ attempt: number }>`
      update billing_customers set checkout_attempt = checkout_attempt + 1,
        checkout_leased_until = now() + interval '60 seconds'
      where organization_id = ${organizationId}
        and (checkout_leased_until is null or checkout_leased_until < now())
      returning checkout_attempt as attempt
    `;
    if (taken !== undefined) return taken.attempt;
    if (Date.now() > end) throw checkoutUnderWay();
    await sleep(100);
  }
}

/** Makes the error for a caller whose organization is opening another checkout. */
export function checkoutUnderWay(): AppError {
  return new AppError('service_unavailable', 'Another checkout is being opened; try again.', { 'Retry-After': '5' });
}

/** Lists the open checkouts of a customer, even of a deleted one. */
export function listOpenCheckouts(
  { processor: { stripe }, watch }: ProcessorDeps,
  customer: string,
): Promise<Stripe.Checkout.Session[]> {
  return callProcessor(watch, () =>
    stripe.checkout.sessions
      .list({ customer, status: 'open', limit: 100, expand: ['data.customer'] })
      .autoPagingToArray({ limit: 1_000 }),
  );
}

/** Expires a checkout. A completed or expired checkout is no error. */
export function expireCheckout({ processor: { stripe }, watch }: ProcessorDeps, id: string): Promise<void> {
  return callProcessor(watch, async () => {
    try {
      await stripe.checkout.sessions.expire(id);
    } catch (error) {
      const { status } = await stripe.checkout.sessions.retrieve(id);
      if (status === 'open') throw error;
    }
  });
}

/** Expires every checkout that a customer could still pay. */
export async function expireOpenCheckouts(deps: ProcessorDeps, customer: string): Promise<void> {
  for (const { id } of await listOpenCheckouts(deps, customer)) await expireCheckout(deps, id);
}
