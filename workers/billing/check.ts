/** Entry: `npm run billing:check` compares the configured prices with the plans; exits with 1 if they differ. */
import { priceFaults } from '#core/accounts/billing/index.ts';
import { ask, billingCommand } from './processor.ts';

const { log, processor } = billingCommand('billing-check');
const faults = await ask(log, () => priceFaults(processor));
for (const fault of faults) log.error(fault);
if (faults.length > 0) process.exitCode = 1;
else log.info({ livemode: processor.livemode }, 'the three prices are as the plans say');
