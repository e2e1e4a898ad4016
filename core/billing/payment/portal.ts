import type { Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { findCustomer } from './customers.ts';
import {
  callProcessor,
  type PaymentWatch,
  type Processor,
  type ProcessorDeps,
} from './processor.ts';

interface PortalVisit {
  readonly customer: string;
  /** Address to which the portal returns. */
  readonly back: string;
  /** A change of the subscription to confirm at once. */
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
      ...(processor.portalConfiguration === undefined
        ? {}
        : { configuration: processor.portalConfiguration }),
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
 * Opens the portal of an organization. It depends on no launch switch: a customer must always be able to cancel.
 * @throws {AppError} `billing_account_missing` when the organization was never a customer, and as `callProcessor`
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
  return openPortal({ processor, watch }, { customer, back });
}

/** Pages of the dashboard from which a checkout can be begun, and to which it returns. */
const RETURN_PATHS: Readonly<Record<string, string>> = {
  billing: '/settings/billing',
  pricing: '/pricing',
  routines: '/routines',
  runs: '/runs',
};

/**
 * Returns the addresses to which the processor's pages lead back. The entry point is only looked up: it never becomes
 * part of an address, and an unknown one leads to the billing page.
 */
export function returnAddresses(uiOrigin: string, entrypoint: string) {
  const path = Object.hasOwn(RETURN_PATHS, entrypoint) ? RETURN_PATHS[entrypoint] : undefined;
  const back = `${uiOrigin}${path ?? RETURN_PATHS['billing']}`;
  return { success: `${back}?checkout=done`, cancel: `${back}?checkout=cancelled`, back };
}
