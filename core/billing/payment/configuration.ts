import type Stripe from 'stripe';
import { PLANS } from '../plans.ts';
import type { Payment } from './payment.ts';
import { PAID_PLANS } from './prices.ts';
import type { Processor } from './processor.ts';

/**
 * Checks that the prices for sale agree with the plans: active, monthly, in US dollars, of the plan's amount and of the
 * key's mode.
 * @returns the faults, in words for the operator; empty when there are none
 */
export async function priceFaults({ stripe, prices, livemode }: Processor): Promise<string[]> {
  const faults: string[] = [];
  for (const plan of PAID_PLANS) {
    const [id] = prices[plan];
    const variable = `STRIPE_PRICE_${plan.toUpperCase()}`;
    try {
      const price = await stripe.prices.retrieve(id);
      faults.push(
        ...faultsOf(price, PLANS[plan].priceCents, livemode).map((f) => `${variable}: ${f}`),
      );
    } catch (error) {
      if (!isMissing(error)) throw error;
      faults.push(`${variable}: the processor has no such price`);
    }
  }
  return faults;
}

/**
 * Checks the prices when the service starts. A wrong price ends the start, because somebody would pay the wrong amount;
 * a processor that cannot be reached does not.
 * @throws naming every fault
 */
export async function reportPriceFaults({ processor, watch }: Payment): Promise<void> {
  if (processor === undefined) return;
  let faults: string[];
  try {
    faults = await priceFaults(processor);
  } catch (err) {
    watch.log.error(
      { err },
      'the prices could not be looked at; npm run billing:check does it again',
    );
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

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'resource_missing';
}
