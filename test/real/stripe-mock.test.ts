import { createServer } from 'node:http';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectProcessor, priceFaults, requestSync, setUpProcessor } from '#core/accounts/billing/index.ts';
import { fetchMissedEvents, reconcilePayments } from '#core/accounts/billing/payment/reconcile.ts';
import { LOCAL_SECRET_KEY, paymentEnvironment } from '#dev/fakes/payments/local.ts';
import { itemFor } from '#dev/fakes/payments/ledger.ts';
import type { PaymentProcessor } from '#dev/fakes/payments/server.ts';
import { freePort } from '#dev/stack/ports.ts';
import { closeAtOnce, listenOn } from '#lib/listen.ts';
import { customerOf, hearEvents, priceOf, startProcessor, subscribed } from '#test/core/accounts/billing/support.ts';
import { changeCheckouts, earlier } from '#test/support/given.ts';
import { signUp } from '#test/support/people.ts';
import { startService, type Service } from '#test/support/service.ts';
import { installOnce, requireCommands } from './install.ts';
import { openServers, type Servers } from './servers.ts';

/** Version of stripe-mock, which refuses requests that do not fit Stripe's own description of its API. */
const STRIPE_MOCK = 'v0.203.0';

interface Judge {
  readonly url: string;
  /** Operations of the requests. */
  readonly seen: Set<string>;
  /** Requests that Stripe would have refused, with the reasons. */
  readonly refused: string[];
  stop(): Promise<void>;
}

let servers: Servers;
let mockUrl: string;
let processor: PaymentProcessor;
let judge: Judge;
let service: Service;

beforeAll(async () => {
  await requireCommands('go');
  const folder = await installOnce(`stripe-mock-${STRIPE_MOCK}`, (run, into) =>
    run('env', `GOBIN=${into}`, 'go', 'install', `github.com/stripe/stripe-mock@${STRIPE_MOCK}`),
  );
  servers = await openServers();
  const port = await freePort();
  mockUrl = `http://127.0.0.1:${port}`;
  await servers.start({
    name: 'stripe-mock',
    command: path.join(folder, 'stripe-mock'),
    args: ['-http-addr', `127.0.0.1:${port}`],
    port,
  });
  processor = await startProcessor();
  processor.delivers = false;
  judge = await startJudge(mockUrl, processor.url);
  service = await startService({
    env: { ...environment(judge.url), AUTOMATIC_TAX_ENABLED: 'true' },
  });
  hearEvents(processor, service);
});
afterAll(async () => {
  await service?.close();
  await judge?.stop();
  await processor?.stop();
  await servers?.close();
});

function environment(url: string): Record<string, string> {
  return {
    ...paymentEnvironment(url),
    COMMERCIAL_ACQUISITION_ENABLED: 'true',
    CHECKOUT_ENABLED: 'true',
  };
}

/** Sends each request to stripe-mock, which keeps no state, and then lets the tests' processor respond, which does. */
async function startJudge(strict: string, stateful: string): Promise<Judge> {
  const seen = new Set<string>();
  const refused: string[] = [];
  const server = createServer((request, response) => {
    const pass = async () => {
      const { method = '', url = '' } = request;
      const body = await buffer(request);
      const headers = new Headers();
      for (const name of ['authorization', 'content-type', 'idempotency-key', 'stripe-version']) {
        const value = request.headers[name];
        if (typeof value === 'string') headers.set(name, value);
      }
      const init = { method, headers, ...(body.length > 0 ? { body: body.toString() } : {}) };
      const operation = `${method} ${operationOf(url)}`;
      seen.add(operation);
      const verdict = await fetch(`${strict}${url}`, init);
      if (!verdict.ok) refused.push(`${operation}: ${await verdict.text()}`);
      const answer = await fetch(`${stateful}${url}`, init);
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      response.end(await answer.text());
    };
    pass().catch(() => response.destroy());
  });
  const port = await listenOn(server, { host: '127.0.0.1', port: 0 });
  return { url: `http://127.0.0.1:${port}`, seen, refused, stop: () => closeAtOnce(server) };
}

/** Returns the path of an operation, with a placeholder for each id. An id follows a resource, a noun in the plural. */
function operationOf(url: string): string {
  const [, , ...parts] = new URL(url, 'http://localhost').pathname.split('/');
  return parts.map((part, at) => (parts[at - 1]?.endsWith('s') === true ? ':id' : part)).join('/');
}

function payments() {
  const { database, payment } = service.deps;
  return { database, processor: payment.processor!, watch: payment.watch };
}

test('Stripe takes every request of the service, as its description of the API says', async () => {
  const stripe = connectProcessor(LOCAL_SECRET_KEY, judge.url);
  await setUpProcessor(stripe, 'Nightshift');
  // The second setup finds the objects of the first, and changes the portal only.
  await setUpProcessor(stripe, 'Nightshift');
  expect(await priceFaults(payments().processor)).toEqual([]);

  const ada = await signUp(service);
  await customerOf(service, ada);
  // A checkout for another plan makes the first checkout expire.
  const other = await ada.session.post('/v1/billing/checkout', {
    plan: 'pro',
    entrypoint: 'pricing',
  });
  expect(other.data.kind).toBe('checkout');
  const { organizationId } = ada;
  await changeCheckouts(service.deps.database, { organizationId }, { createdAt: earlier('2 minutes') });
  await requestSync(service.deps.database, organizationId);
  await reconcilePayments(payments(), new AbortController().signal);
  await fetchMissedEvents(payments());

  const bob = await signUp(service);
  const { subscription } = await subscribed({ service, processor }, bob, 'starter');
  expect((await bob.session.post('/v1/billing/portal')).status).toBe(200);
  const change = await bob.session.post('/v1/billing/checkout', {
    plan: 'scale',
    entrypoint: 'billing',
  });
  expect(change.data.kind).toBe('portal');
  const items = Array.from({ length: 11 }, () => itemFor(priceOf('pro'), processor.ledger.now()));
  subscription.items.data.push(...items);
  await processor.send(processor.ledger.changePrice(subscription, priceOf('pro')));

  processor.ledger.deleteCustomer(processor.ledger.customers.get(await customerOf(service, ada))!);
  await customerOf(service, ada);

  expect(judge.refused).toEqual([]);
  expect([...judge.seen].toSorted()).toEqual([
    'GET billing_portal/configurations',
    'GET checkout/sessions',
    'GET checkout/sessions/:id',
    'GET customers/:id',
    'GET events',
    'GET prices',
    'GET prices/:id',
    'GET products',
    'GET subscription_items',
    'GET subscriptions',
    'POST billing_portal/configurations',
    'POST billing_portal/configurations/:id',
    'POST billing_portal/sessions',
    'POST checkout/sessions',
    'POST checkout/sessions/:id/expire',
    'POST customers',
    'POST prices',
    'POST products',
  ]);
}, 120_000);

test('a field that Stripe does not know is refused, so the test above can fail', async () => {
  const stripe = connectProcessor(LOCAL_SECRET_KEY, mockUrl);
  const odd = { name: 'Nightshift', colour: 'black' };
  const refusal = /additional properties are not allowed/;
  await expect(stripe.products.create(odd)).rejects.toThrow(refusal);
  await expect(stripe.prices.list({ ...odd, active: true })).rejects.toThrow(refusal);
});

test('the service reads the objects of Stripe itself, with all their fields', async () => {
  const alone = await startService({ env: environment(mockUrl) });
  try {
    const ada = await signUp(alone);
    // The subscription of stripe-mock has a price that we do not sell, so it leads to the portal and grants no plan.
    const { status, data } = await ada.session.post('/v1/billing/checkout', {
      plan: 'pro',
      entrypoint: 'billing',
    });
    expect([status, data]).toEqual([200, { url: expect.stringMatching(/^https:/), kind: 'portal' }]);
    const { data: billing } = await ada.session.get('/v1/billing?refresh=true');
    expect(billing).toMatchObject({ plan: 'free' });
  } finally {
    await alone.close();
  }
}, 120_000);
