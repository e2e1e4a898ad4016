import { createPayment, type Payment, type Processor } from '#core/billing/index.ts';
import { loadConfig, type ConfigOf } from '#lib/config/index.ts';
import { createLog, type Log } from '#lib/log.ts';
import { createMetrics } from '#lib/metrics/index.ts';

export interface BillingCommand {
  readonly config: ConfigOf<'billing'>;
  readonly log: Log;
  readonly processor: Processor;
  readonly watch: Payment['watch'];
}

/** Reads what an operator's command about payment needs; ends the process when no processor is configured. */
export function billingCommand(name: string): BillingCommand {
  const config = loadConfig('billing');
  const log = createLog({ level: config.LOG_LEVEL, name });
  const { processor, watch } = createPayment(config, { log, metrics: createMetrics().metrics });
  if (processor === undefined) {
    log.fatal('no payment processor is configured: see docs/billing.md');
    process.exit(2);
  }
  return { config, log, processor, watch };
}
