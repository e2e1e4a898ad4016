import type { Log } from '#lib/log.ts';
import type { Metrics } from '#lib/metrics/index.ts';
import type { LaunchSwitches } from './checkout.ts';
import { parsePriceIds } from './prices.ts';
import { createProcessor, type PaymentWatch, type Processor } from './processor.ts';

/** Configuration of payment, as one process holds it. */
export interface Payment {
  /** Undefined on a self-hosted service without payment. */
  readonly processor: Processor | undefined;
  readonly watch: PaymentWatch;
  readonly switches: LaunchSwitches;
  readonly uiOrigin: string;
}

/** Variables that configure payment. */
export interface PaymentVariables {
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
