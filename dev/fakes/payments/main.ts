/** Entry: runs the payment processor on PAYMENTS_PORT, with one price for each of the three paid plans. */
import { assertPortFree } from '../../stack/ports.ts';
import { LOCAL_PRICES, LOCAL_SECRET_KEY, LOCAL_WEBHOOK_SECRET } from './local.ts';
import { startPaymentProcessor } from './server.ts';

const port = Number(process.env['PAYMENTS_PORT'] ?? 4014);
await assertPortFree(port, 'PAYMENTS_PORT');
const processor = await startPaymentProcessor({
  port,
  secretKey: LOCAL_SECRET_KEY,
  endpoint: {
    url: `http://127.0.0.1:${process.env['PORT'] ?? 3000}/webhooks/stripe`,
    secret: LOCAL_WEBHOOK_SECRET,
  },
});
for (const price of LOCAL_PRICES) processor.ledger.prices.set(price.id, price);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void processor.stop().then(() => process.exit(0)));
}

console.log(`Payment processor: ${processor.url}`);
