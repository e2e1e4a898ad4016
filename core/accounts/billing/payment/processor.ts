import type { Core } from '#core/core.ts';
import Stripe from 'stripe';
import { AppError } from '#lib/errors.ts';
import type { Log } from '#lib/log.ts';
import type { Metrics } from '#lib/metrics/index.ts';
import type { PriceList } from '../plans.ts';

export interface ProcessorSettings {
  readonly secretKey: string;
  readonly webhookSecret: string;
  readonly prices: PriceList;
  /** Days for which a subscription keeps its access after it was first seen past due. */
  readonly graceDays: number;
  /** The portal's configuration; undefined for the processor's default. */
  readonly portalConfiguration: string | undefined;
  /** Origin of a processor on this machine, for local use and tests. */
  readonly apiUrl: string | undefined;
}

export interface Processor extends Pick<
  ProcessorSettings,
  'webhookSecret' | 'prices' | 'graceDays' | 'portalConfiguration'
> {
  readonly stripe: Stripe;
  /** True when payments move real money, false in the processor's test mode. Objects of the other mode are ignored. */
  readonly livemode: boolean;
}

/** Log and metrics for payment errors that only an operator can correct. */
export interface PaymentWatch {
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Dependencies of requests to the processor whose results are stored. */
export interface PaymentDeps extends Pick<Core, 'database'> {
  readonly processor: Processor;
  readonly watch: PaymentWatch;
}

/** Dependencies of requests to the processor whose results are not stored. */
export type ProcessorDeps = Pick<PaymentDeps, 'processor' | 'watch'>;

export function createProcessor(settings: ProcessorSettings): Processor {
  const { secretKey, apiUrl } = settings;
  return {
    ...settings,
    livemode: /^[rs]k_live_/.test(secretKey),
    stripe: connectProcessor(secretKey, apiUrl),
  };
}

/** Creates the client of the processor; `apiUrl` is the origin of a processor on this machine. */
export function connectProcessor(secretKey: string, apiUrl: string | undefined): Stripe {
  return new Stripe(secretKey, {
    // The library's defaults, 80 s and one retry, are longer than a caller waits.
    timeout: 10_000,
    maxNetworkRetries: 2,
    telemetry: false,
    ...(apiUrl === undefined ? {} : addressOf(new URL(apiUrl))),
  });
}

function addressOf({ hostname, port, protocol }: URL) {
  return {
    host: hostname,
    ...(port === '' ? {} : { port }),
    protocol: protocol === 'http:' ? ('http' as const) : ('https' as const),
  };
}

/**
 * Error: the processor does not know an organization's customer. The customer was deleted or belongs to another
 * account.
 */
export class CustomerGone extends AppError {
  constructor() {
    super('provider_error', 'The payment processor does not know the customer of this organization any more.');
  }
}

/**
 * Calls the processor and converts its errors. The processor's messages may contain ids and addresses, so no caller
 * sees them.
 * @throws {CustomerGone}
 * @throws {AppError} `service_unavailable` when the processor cannot be reached or asks to slow down, else
 * `provider_error`
 */
export async function callProcessor<T>(watch: PaymentWatch, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeError)) throw error;
    const { type, code, param, requestId } = error;
    if (code === 'resource_missing' && param === 'customer') {
      raise(watch, 'customer_gone', { type, requestId });
      throw new CustomerGone();
    }
    if (
      error instanceof Stripe.errors.StripeAuthenticationError ||
      error instanceof Stripe.errors.StripePermissionError
    ) {
      raise(watch, 'authentication', { type, code, requestId });
    } else {
      watch.log.warn({ type, code, requestId }, 'the payment processor reported an error');
    }
    throw error instanceof Stripe.errors.StripeConnectionError || error instanceof Stripe.errors.StripeRateLimitError
      ? new AppError('service_unavailable', 'Payment is not available just now; try again.', {
          'Retry-After': '10',
        })
      : new AppError('provider_error', 'The payment processor did not accept the request.');
  }
}

/** Payment problems that need an operator. */
export type PaymentAlert =
  | 'authentication'
  | 'unknown_customer'
  | 'customer_gone'
  | 'deleted_organization'
  | 'unknown_price'
  | 'several_subscriptions';

/** Counts and logs a problem that needs an operator. */
export function raise({ log, metrics }: PaymentWatch, alert: PaymentAlert, facts: object): void {
  metrics.paymentAlert(alert);
  log.error({ alert, ...facts }, 'payment needs an operator');
}
