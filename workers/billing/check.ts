/** Entry: `npm run billing:check` looks whether the configured prices are what the plans say; exits with 1 if not. */
import { priceFaults } from '#core/accounts/billing/index.ts';
import { ask, billingCommand } from './processor.ts';

const { log, processor } = billingCommand('billing-check');
const faults = await ask(log, () => priceFaults(processor));
for (const fault of faults) log.error(fault);
if (faults.length > 0) process.exitCode = 1;
else log.info({ livemode: processor.livemode }, 'the three prices are as the plans say');
