import type { Core } from '#core/core.ts';
import type Stripe from 'stripe';
import type { PaidPlan } from '#core/accounts/organizations/index.ts';
import { databaseTime, type Database } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { planOfPrice } from '../plans.ts';
import {
  ensureCustomer,
  fetchSubscriptions,
  openPortal,
  replaceCustomer,
  requestSync,
  returnAddresses,
} from './customers.ts';
import { isLive } from './entitlement.ts';
import {
  checkoutUnderWay,
  expireCheckout,
  isLatestAttempt,
  listOpenCheckouts,
  oneCheckoutAtATime,
} from './open-checkouts.ts';
import { callProcessor, CustomerGone, type PaymentDeps, type PaymentWatch, type Processor } from './processor.ts';

/** Switches with which the operator opens the sale. A new checkout needs both `acquisition` and `checkout`. */
export interface LaunchSwitches {
  readonly acquisition: boolean;
  readonly checkout: boolean;
  readonly automaticTax: boolean;
}

export interface CheckoutDeps extends Pick<Core, 'database' | 'uiOrigin'> {
  readonly processor: Processor | undefined;
  readonly watch: PaymentWatch;
  readonly switches: LaunchSwitches;
}

export interface CheckoutInput {
  readonly organizationId: string;
  readonly userId: string;
  readonly plan: PaidPlan;
  readonly entrypoint: string;
}

export interface Checkout {
  readonly url: string;
  /** `portal` when the organization has a subscription, because it must not buy a second one. */
  readonly kind: 'checkout' | 'portal';
}

/** Lifetime of a checkout. An open checkout with at least `LEFT_SECONDS` left is reused. */
const OPEN_SECONDS = 35 * 60;
const LEFT_SECONDS = 10 * 60;

/** Returns why no checkout can begin; undefined when one can. */
export function checkoutBarrier({
  processor,
  switches,
}: Pick<CheckoutDeps, 'processor' | 'switches'>): string | undefined {
  if (processor === undefined) return 'No payment processor is configured.';
  if (!switches.acquisition) return 'COMMERCIAL_ACQUISITION_ENABLED is off.';
  if (!switches.checkout) return 'CHECKOUT_ENABLED is off.';
  return undefined;
}

/**
 * Begins a checkout of a plan on the processor's page, or opens the portal. An organization begins one checkout at a
 * time: two owners in two tabs get the same open checkout, and open checkouts of other plans are expired. If the
 * processor no longer knows the customer, creates a new customer, once.
 * @throws {AppError} `checkout_disabled`, and the errors of `callProcessor`
 */
export async function beginCheckout(deps: CheckoutDeps, input: CheckoutInput): Promise<Checkout> {
  const { database, processor } = deps;
  const barrier = checkoutBarrier(deps);
  if (processor === undefined || barrier !== undefined) throw new AppError('checkout_disabled', barrier);
  const ready = { ...deps, processor };
  const customer = await ensureCustomer(ready, input.organizationId);
  return oneCheckoutAtATime(database, input.organizationId, async (attempt) => {
    try {
      return await checkoutOf(ready, { ...input, customer }, attempt);
    } catch (error) {
      if (!(error instanceof CustomerGone)) throw error;
      // Keep a customer with a live subscription: a new customer would pay for a second subscription.
      if ((await findSubscribed(ready, customer).catch(ifGone)) !== undefined) throw error;
      const fresh = await replaceCustomer(ready, input.organizationId, customer);
      return checkoutOf(ready, { ...input, customer: fresh }, attempt);
    }
  });
}

type Ready = CheckoutDeps & { readonly processor: Processor };
type Visitor = CheckoutInput & { readonly customer: string };

/** @throws {CustomerGone} */
async function checkoutOf(deps: Ready, input: Visitor, attempt: number): Promise<Checkout> {
  const { database } = deps;
  const { organizationId, customer } = input;
  const subscribed = await findSubscribed(deps, customer);
  if (subscribed !== undefined) {
    await requestSync(database, organizationId);
    return toPortal(deps, { ...input, subscribed });
  }
  // Use the database's clock: this machine's may be wrong, and the processor refuses a checkout that ends too soon.
  const now = (await databaseTime(database)).getTime() / 1_000;
  const again = await openSession(deps, { ...input, now });
  const session = again ?? (await createSession(deps, { ...input, now }, attempt));
  if (session.url === null) throw new AppError('provider_error');
  await record(database, input, session);
  // A newer attempt may have missed this session: expire it and let the caller retry.
  if (!(await isLatestAttempt(database, organizationId, attempt))) {
    if (again === undefined) await expireCheckout(deps, session.id);
    throw checkoutUnderWay();
  }
  return { url: session.url, kind: 'checkout' };
}

/** Finds the customer's live subscription. The portal changes this subscription instead of selling a second one. */
async function findSubscribed(deps: PaymentDeps, customer: string): Promise<Stripe.Subscription | undefined> {
  return (await fetchSubscriptions(deps, customer)).find(isLive);
}

function ifGone(error: unknown): undefined {
  if (!(error instanceof CustomerGone)) throw error;
}

/**
 * Opens the portal. If the subscription can change to the wanted price, the portal opens at the page that confirms the
 * change.
 */
async function toPortal(deps: Ready, input: Visitor & { readonly subscribed: Stripe.Subscription }): Promise<Checkout> {
  const { subscribed, plan, customer } = input;
  const [item, another] = subscribed.items.data;
  const price = deps.processor.prices[plan][0];
  const changes =
    (subscribed.status === 'active' || subscribed.status === 'trialing') &&
    item !== undefined &&
    another === undefined &&
    planOfPrice(deps.processor.prices, item.price.id) !== plan;
  const { back } = returnAddresses(deps.uiOrigin, input.entrypoint);
  const url = await openPortal(deps, {
    customer,
    back,
    ...(changes ? { update: { subscription: subscribed.id, item: item.id, price } } : {}),
  });
  return { url, kind: 'portal' };
}

/**
 * Returns an open checkout of the plan that the customer can still use; expires all other checkouts of the customer.
 */
async function openSession(
  deps: Ready,
  { customer, plan, now }: Visitor & { readonly now: number },
): Promise<Stripe.Checkout.Session | undefined> {
  const open = await listOpenCheckouts(deps, customer);
  const enough = now + LEFT_SECONDS;
  const price = deps.processor.prices[plan][0];
  const again = open.find(
    ({ metadata, expires_at: end, customer: payer }) =>
      metadata?.['price'] === price && end > enough && !(typeof payer === 'object' && payer?.deleted === true),
  );
  for (const session of open) {
    if (session !== again) await expireCheckout(deps, session.id);
  }
  return again;
}

function createSession(
  { processor, watch, switches, uiOrigin }: Ready,
  { organizationId, customer, plan, entrypoint, now }: Visitor & { readonly now: number },
  attempt: number,
): Promise<Stripe.Checkout.Session> {
  const price = processor.prices[plan][0];
  const { success, cancel } = returnAddresses(uiOrigin, entrypoint);
  const tax = switches.automaticTax;
  return callProcessor(watch, () =>
    processor.stripe.checkout.sessions.create(
      {
        mode: 'subscription',
        customer,
        line_items: [{ price, quantity: 1 }],
        allow_promotion_codes: true,
        customer_update: { address: 'auto', name: 'auto' },
        billing_address_collection: tax ? 'required' : 'auto',
        automatic_tax: { enabled: tax },
        tax_id_collection: { enabled: tax },
        adaptive_pricing: { enabled: false },
        success_url: success,
        cancel_url: cancel,
        expires_at: Math.floor(now) + OPEN_SECONDS,
        client_reference_id: organizationId,
        metadata: { organization: organizationId, price },
      },
      { idempotencyKey: `checkout:${customer}:${attempt}` },
    ),
  );
}

async function record(
  database: Database,
  { organizationId, userId, plan }: CheckoutInput,
  { id, expires_at: end }: Stripe.Checkout.Session,
): Promise<void> {
  await database.run`
    insert into billing_checkouts (session_id, organization_id, plan, created_by, expires_at)
    values (${id}, ${organizationId}, ${plan}, ${userId}, ${new Date(end * 1_000)})
    on conflict (session_id) do nothing
  `;
}
