import type Stripe from 'stripe';
import type { Log } from '#lib/log.ts';
import type { Metrics } from '#lib/metrics/index.ts';
import { PAID_PLANS, parsePriceIds, PLANS } from '../plans.ts';
import type { LaunchSwitches } from './checkout.ts';
import { createProcessor, type PaymentWatch, type Processor } from './processor.ts';

/** Payment configuration of a process. */
export interface Payment {
  /** The payment processor; undefined on a self-hosted service without payment. */
  readonly processor: Processor | undefined;
  readonly watch: PaymentWatch;
  readonly switches: LaunchSwitches;
  readonly uiOrigin: string;
}

interface PaymentVariables {
  readonly UI_ORIGIN: string;
  readonly COMMERCIAL_ACQUISITION_ENABLED: boolean;
  readonly CHECKOUT_ENABLED: boolean;
  readonly AUTOMATIC_TAX_ENABLED: boolean;
  readonly BILLING_GRACE_DAYS: number;
  readonly STRIPE_SECRET_KEY?: string | undefined;
  readonly STRIPE_WEBHOOK_SECRET?: string | undefined;
  readonly STRIPE_PRICE_STARTER?: string | undefined;
  readonly STRIPE_PRICE_PRO?: string | undefined;
  readonly STRIPE_PRICE_SCALE?: string | undefined;
  readonly STRIPE_PORTAL_CONFIGURATION?: string | undefined;
  readonly STRIPE_API_URL?: string | undefined;
}

export function createPayment(
  config: PaymentVariables,
  watch: { readonly log: Log; readonly metrics: Metrics },
): Payment {
  return {
    processor: processorOf(config),
    watch,
    switches: {
      acquisition: config.COMMERCIAL_ACQUISITION_ENABLED,
      checkout: config.CHECKOUT_ENABLED,
      automaticTax: config.AUTOMATIC_TAX_ENABLED,
    },
    uiOrigin: config.UI_ORIGIN,
  };
}

function processorOf(config: PaymentVariables): Processor | undefined {
  const {
    STRIPE_SECRET_KEY: secretKey,
    STRIPE_WEBHOOK_SECRET: webhookSecret,
    STRIPE_PRICE_STARTER: starter,
    STRIPE_PRICE_PRO: pro,
    STRIPE_PRICE_SCALE: scale,
  } = config;
  if (
    secretKey === undefined ||
    webhookSecret === undefined ||
    starter === undefined ||
    pro === undefined ||
    scale === undefined
  ) {
    return undefined;
  }
  return createProcessor({
    secretKey,
    webhookSecret,
    prices: {
      starter: parsePriceIds(starter),
      pro: parsePriceIds(pro),
      scale: parsePriceIds(scale),
    },
    graceDays: config.BILLING_GRACE_DAYS,
    portalConfiguration: config.STRIPE_PORTAL_CONFIGURATION,
    apiUrl: config.STRIPE_API_URL,
  });
}

/**
 * Checks that the prices for sale agree with the plans: active, monthly, in US dollars, with the plan's amount and in
 * the key's mode.
 * @returns the faults, in words for the operator; empty without faults
 */
export async function priceFaults({ stripe, prices, livemode }: Processor): Promise<string[]> {
  const faults: string[] = [];
  for (const plan of PAID_PLANS) {
    const [id] = prices[plan];
    const variable = `STRIPE_PRICE_${plan.toUpperCase()}`;
    try {
      const price = await stripe.prices.retrieve(id);
      faults.push(...faultsOf(price, PLANS[plan].priceCents, livemode).map((f) => `${variable}: ${f}`));
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'resource_missing')) throw error;
      faults.push(`${variable}: the processor has no such price`);
    }
  }
  return faults;
}

/**
 * Checks the prices when the service starts. A wrong price ends the start, because customers would pay the wrong
 * amount; if the processor cannot be reached, the service starts without the check.
 * @throws an error that names every fault
 */
export async function reportPriceFaults({ processor, watch }: Payment): Promise<void> {
  if (processor === undefined) return;
  let faults: string[];
  try {
    faults = await priceFaults(processor);
  } catch (err) {
    watch.log.error({ err }, 'the prices could not be checked; npm run billing:check tries again');
    return;
  }
  if (faults.length > 0) throw new Error(`Payment is configured wrongly: ${faults.join('; ')}.`);
}

function faultsOf(price: Stripe.Price, cents: number, livemode: boolean): string[] {
  const { recurring } = price;
  const monthly = recurring?.interval === 'month' && recurring.interval_count === 1;
  return [
    price.active ? [] : ['the price is not active'],
    monthly ? [] : ['the price does not recur each month'],
    price.currency === 'usd' ? [] : [`the currency is ${price.currency}, not usd`],
    price.unit_amount === cents ? [] : [`the amount is ${price.unit_amount}, not ${cents} cents`],
    price.livemode === livemode ? [] : ['the price is of the other mode than the secret key'],
  ].flat();
}
