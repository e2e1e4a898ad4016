/** Entry: `npm run billing:setup [-- NAME]` makes products, prices and the portal's configuration, once. */
import { connectProcessor, setUpProcessor } from '#core/accounts/billing/index.ts';
import { startingConfig } from '#lib/config/index.ts';
import { createLog } from '#lib/log.ts';
import { ask } from './processor.ts';

const { LOG_LEVEL: level, ...config } = startingConfig('billing-setup');
const log = createLog({ level, name: 'billing-setup' });
if (config.STRIPE_SECRET_KEY === undefined) {
  log.fatal('STRIPE_SECRET_KEY is not set');
  process.exit(2);
}
const stripe = connectProcessor(config.STRIPE_SECRET_KEY, config.STRIPE_API_URL);
const name = process.argv[2] ?? 'Routines';
const { prices, portal } = await ask(log, () => setUpProcessor(stripe, name));
console.log(
  [
    `STRIPE_PRICE_STARTER=${prices.starter}`,
    `STRIPE_PRICE_PRO=${prices.pro}`,
    `STRIPE_PRICE_SCALE=${prices.scale}`,
    `STRIPE_PORTAL_CONFIGURATION=${portal}`,
  ].join('\n'),
);
