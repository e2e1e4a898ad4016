import { expect } from 'vitest';
import { paidTest } from './support.ts';

const test = paidTest();

const PRO = { plan: 'pro', entrypoint: 'pricing' };

test.for([
  [{ name: 'unauthorized' }, 502, 'provider_error', 1],
  [{ name: 'error_after' }, 502, 'provider_error', 3],
  [{ name: 'rate_limit' }, 503, 'service_unavailable', 1],
  [{ name: 'cut_after' }, 503, 'service_unavailable', 3],
] as const)(
  'an error of the processor of the kind %j is %i %s in our words, after %i requests',
  async ([fault, status, code, requests], { processor, ada }) => {
    // A fault for the request and for each of its retries.
    processor.faults.push(...[1, 2, 3].map(() => ({ of: 'POST customers', kind: fault })));
    const before = processor.requests.length;
    const answer = await ada.session.post('/v1/billing/checkout', PRO);
    expect([answer.status, answer.body.error.code]).toEqual([status, code]);
    expect(answer.headers.get('retry-after')).toBe(status === 503 ? '10' : null);
    expect(JSON.stringify(answer.body)).not.toMatch(/theirs|Invalid API Key|Slow down|req_/);
    expect(processor.requests.slice(before)).toEqual(Array.from({ length: requests }, () => 'POST customers'));
    processor.faults.length = 0;
    // The next request has another key, so the processor does not repeat the saved error.
    expect((await ada.session.post('/v1/billing/checkout', PRO)).status).toBe(200);
  },
);

test('a response that is lost is asked for again under the same key', async ({ processor, ada }) => {
  const before = processor.ledger.customers.size;
  processor.faults.push({ of: 'POST customers', kind: { name: 'cut_after' } });
  expect((await ada.session.post('/v1/billing/checkout', PRO)).status).toBe(200);
  expect(processor.ledger.customers.size).toBe(before + 1);
});

test('the processor is waited for ten seconds and asked twice more', ({ service }) => {
  const { stripe } = service.deps.payment.processor!;
  expect([stripe.getApiField('timeout'), stripe.getMaxNetworkRetries()]).toEqual([10_000, 2]);
});
