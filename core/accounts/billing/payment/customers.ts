import Stripe from 'stripe';
import { AT_ONCE, sql, transaction, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { replaceSubscriptions } from './entitlement.ts';
import {
  callProcessor,
  CustomerGone,
  type PaymentDeps,
  type PaymentWatch,
  type Processor,
  type ProcessorDeps,
} from './processor.ts';

async function findCustomer(db: Db, organizationId: string): Promise<string | undefined> {
  const found = await db.row<{ customerId: string | null }>`
    select customer_id as "customerId" from billing_customers where organization_id = ${organizationId}
  `;
  return found?.customerId ?? undefined;
}

/** Lists all subscriptions of a customer, ended ones included. @throws {CustomerGone} */
export function fetchSubscriptions(
  { processor: { stripe }, watch }: ProcessorDeps,
  customer: string,
): Promise<Stripe.Subscription[]> {
  return callProcessor(watch, () =>
    stripe.subscriptions.list({ customer, status: 'all', limit: 100 }).autoPagingToArray({ limit: 10_000 }),
  );
}

/**
 * Returns an organization's customer. A new customer is stored before any other request to the processor. The processor
 * repeats its first response to an idempotency key, even an error: a failed attempt is repeated under a new key, and an
 * attempt that was cut off under the same key.
 * @throws {AppError} the errors of `callProcessor`
 */
export async function ensureCustomer(
  { database, processor, watch }: PaymentDeps,
  organizationId: string,
): Promise<string> {
  const known = await database.row<{ customerId: string | null; attempt: number }>`
    insert into billing_customers as c (organization_id, livemode) values (${organizationId}, ${processor.livemode})
    on conflict (organization_id) do update set livemode = c.livemode
    returning customer_id as "customerId", creation_attempt as attempt
  `;
  if (known?.customerId != null) return known.customerId;
  const attempt = known?.attempt ?? 1;
  let created;
  try {
    created = await callProcessor(watch, () =>
      processor.stripe.customers.create(
        { metadata: { organization: organizationId } },
        { idempotencyKey: `customer:${organizationId}:${attempt}` },
      ),
    );
  } catch (error) {
    await database.run`
      update billing_customers set creation_attempt = creation_attempt + 1
      where organization_id = ${organizationId} and creation_attempt = ${attempt}
    `;
    throw error;
  }
  const stored = await database.row<{ customerId: string }>`
    update billing_customers set customer_id = coalesce(customer_id, ${created.id})
    where organization_id = ${organizationId} returning customer_id as "customerId"
  `;
  if (stored === undefined) throw new Error('the customer belongs to a deleted organization');
  return stored.customerId;
}

/**
 * Replaces a customer whom the processor no longer knows. A running sync loses its lease, because it has listed the
 * former customer.
 */
export async function replaceCustomer(deps: PaymentDeps, organizationId: string, gone: string): Promise<string> {
  const isDeleted = await isDeletedCustomer(deps, gone);
  await transaction(deps.database, async (tx) => {
    const forgotten = await tx.run`
      update billing_customers set customer_id = null, livemode = ${deps.processor.livemode},
        creation_attempt = creation_attempt + 1, lease_token = null, leased_until = null
      where organization_id = ${organizationId} and customer_id = ${gone}
    `;
    // The processor ended the subscriptions when the customer was deleted, so none of them may grant access any longer.
    if (isDeleted && forgotten > 0) await replaceSubscriptions(tx, { organizationId, customerId: gone }, []);
  });
  const customer = await ensureCustomer(deps, organizationId);
  await requestSync(deps.database, organizationId);
  return customer;
}

/**
 * Tells whether a customer was deleted. A customer that this account does not know (404) belongs to another account,
 * and counts as not deleted.
 */
export async function isDeletedCustomer({ processor, watch }: ProcessorDeps, customer: string): Promise<boolean> {
  return callProcessor(watch, async () => {
    try {
      const { deleted } = await processor.stripe.customers.retrieve(customer);
      return deleted === true;
    } catch (error) {
      if (error instanceof Stripe.errors.StripeError && error.statusCode === 404) return false;
      throw error;
    }
  });
}

/** Lists the ids of the organizations that are customers. */
export async function listCustomers(db: Db): Promise<string[]> {
  const found = await db.rows<{
    id: string;
  }>`select organization_id as id from billing_customers where customer_id is not null order by organization_id`;
  return found.map(({ id }) => id);
}

/** Age in seconds of the oldest unanswered request for a sync, as an SQL expression; 0 when there is none. */
export const oldestUnsynced = sql`coalesce((
  select extract(epoch from now() - min(requested_at)) from billing_customers
  where sync_requested > sync_done and customer_id is not null
), 0)::float8`;

/** Requests a sync of one organization; does nothing when the organization is no customer. */
export async function requestSync(db: Db, organizationId: string): Promise<void> {
  await db.run`
    update billing_customers set ${requested} where organization_id = ${organizationId} and customer_id is not null
  `;
}

/** SQL assignments that request another sync of a customer. */
export const requested = sql`sync_requested = sync_requested + 1,
  requested_at = case when sync_requested > sync_done then requested_at else now() end, next_attempt_at = ${AT_ONCE}`;

interface PortalVisit {
  readonly customer: string;
  /** Address to which the portal sends the person back. */
  readonly back: string;
  /** Change of the subscription that the customer is asked to confirm when the portal opens. */
  readonly update?: {
    readonly subscription: string;
    readonly item: string;
    readonly price: string;
  };
}

/** Opens the processor's portal and returns its short-lived address. @throws {AppError} as `callProcessor` */
export async function openPortal(
  { processor, watch }: ProcessorDeps,
  { customer, back, update }: PortalVisit,
): Promise<string> {
  const session = await callProcessor(watch, () =>
    processor.stripe.billingPortal.sessions.create({
      customer,
      return_url: back,
      ...(processor.portalConfiguration === undefined ? {} : { configuration: processor.portalConfiguration }),
      ...(update === undefined
        ? {}
        : {
            flow_data: {
              type: 'subscription_update_confirm' as const,
              subscription_update_confirm: {
                subscription: update.subscription,
                items: [{ id: update.item, price: update.price, quantity: 1 }],
              },
            },
          }),
    }),
  );
  return session.url;
}

/**
 * Opens the portal of an organization. No launch switch closes the portal, because a customer must always be able to
 * cancel.
 * @throws {AppError} `billing_account_missing` when the organization is no customer, and as `callProcessor`
 */
export async function visitPortal(
  deps: {
    readonly database: Db;
    readonly processor: Processor | undefined;
    readonly watch: PaymentWatch;
    readonly uiOrigin: string;
  },
  organizationId: string,
): Promise<string> {
  const { database, processor, watch, uiOrigin } = deps;
  const customer = await findCustomer(database, organizationId);
  if (processor === undefined || customer === undefined) {
    throw new AppError('billing_account_missing');
  }
  const { back } = returnAddresses(uiOrigin, 'billing');
  try {
    return await openPortal({ processor, watch }, { customer, back });
  } catch (error) {
    if (!(error instanceof CustomerGone)) throw error;
    throw new AppError(
      'billing_account_missing',
      'There is no subscription, because the payment processor no longer knows this organization. Buy a plan to start again.',
    );
  }
}

/** Pages of the dashboard at which a checkout can begin, and to which the browser returns. */
const RETURN_PATHS: Readonly<Record<string, string>> = {
  billing: '/settings/billing',
  pricing: '/pricing',
  routines: '/routines',
  runs: '/runs',
};

/**
 * Returns the addresses to which the processor's pages send the browser back. The entry point only selects one of our
 * pages; an unknown entry point selects the billing page.
 */
export function returnAddresses(uiOrigin: string, entrypoint: string) {
  const path = Object.hasOwn(RETURN_PATHS, entrypoint) ? RETURN_PATHS[entrypoint] : undefined;
  const back = `${uiOrigin}${path ?? RETURN_PATHS['billing']}`;
  return { success: `${back}?checkout=done`, cancel: `${back}?checkout=cancelled`, back };
}
