import type Stripe from 'stripe';
import { callProcessor, type PaymentWatch, type Processor } from './processor.ts';

interface OpenCheckoutDeps {
  readonly processor: Processor;
  readonly watch: PaymentWatch;
}

/** Lists the checkouts of a customer that can still be paid. */
export function listOpenCheckouts(
  { processor: { stripe }, watch }: OpenCheckoutDeps,
  customer: string,
): Promise<Stripe.Checkout.Session[]> {
  return callProcessor(watch, () =>
    stripe.checkout.sessions
      .list({ customer, status: 'open', limit: 100 })
      .autoPagingToArray({ limit: 1_000 }),
  );
}

/** Expires a checkout; one that was completed or has expired meanwhile is no error. */
export function expireCheckout(
  { processor: { stripe }, watch }: OpenCheckoutDeps,
  id: string,
): Promise<void> {
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
export async function expireOpenCheckouts(deps: OpenCheckoutDeps, customer: string): Promise<void> {
  for (const { id } of await listOpenCheckouts(deps, customer)) await expireCheckout(deps, id);
}
