import { createPayment, type Payment, type Processor } from '#core/accounts/billing/index.ts';
import { loadConfig, type ConfigOf } from '#lib/config/index.ts';
import { createLog, type Log } from '#lib/log.ts';
import { createMetrics } from '#lib/metrics/index.ts';

export interface BillingCommand<R extends 'billing-check' | 'billing-reconcile'> {
  readonly config: ConfigOf<R>;
  readonly log: Log;
  readonly processor: Processor;
  readonly watch: Payment['watch'];
}

/** Reads the configuration of a payment command; ends the process when no processor is configured. */
export function billingCommand<R extends 'billing-check' | 'billing-reconcile'>(name: R): BillingCommand<R> {
  const config = loadConfig(name);
  const log = createLog({ level: config.LOG_LEVEL, name });
  const { processor, watch } = createPayment(config, { log, metrics: createMetrics().metrics });
  if (processor === undefined) {
    log.fatal('no payment processor is configured: see docs/billing.md');
    process.exit(2);
  }
  return { config, log, processor, watch };
}

/** Asks the processor; logs the error and ends the process when the processor refuses or cannot be reached. */
export async function ask<T>(log: Log, request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    log.fatal(`the payment processor could not be asked: ${said}`);
    process.exit(1);
  }
}
