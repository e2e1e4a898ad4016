import { randomBytes } from 'node:crypto';
import { expect, inject } from 'vitest';
import { LOCAL_PRICES, paymentEnvironment } from '#dev/fakes/payments/local.ts';
import { freePort } from '#dev/stack/ports.ts';
import { startNode } from '#test/support/node-process.ts';
import { paidTest, storedAccess, subscribed } from './support.ts';
import { changeOrganizations } from '#test/support/given.ts';
import { FULL_SIZE } from '#test/support/properties.ts';

const test = paidTest();

/** Runs a command of the operator to its end. */
async function run(command: string, env: Record<string, string>, ...args: string[]) {
  const process = startNode(`workers/billing/${command}.ts`, env, { args });
  return { code: await process.exited, output: process.output() };
}

function variablesIn(output: string): Record<string, string> {
  const lines = output.split('\n').filter((line) => /^STRIPE_\w+=/.test(line));
  return Object.fromEntries(lines.map((line) => line.split('=') as [string, string]));
}

test('billing:setup makes what billing:check then finds right, and a repetition makes nothing more', async ({
  processor,
}) => {
  const env = paymentEnvironment(processor.url);
  const { STRIPE_API_URL, STRIPE_SECRET_KEY } = env;
  const bare = { STRIPE_API_URL: STRIPE_API_URL!, STRIPE_SECRET_KEY: STRIPE_SECRET_KEY! };
  const first = await run('setup', bare, 'Nightshift');
  expect([first.code, Object.keys(variablesIn(first.output))]).toEqual([
    0,
    ['STRIPE_PRICE_STARTER', 'STRIPE_PRICE_PRO', 'STRIPE_PRICE_SCALE', 'STRIPE_PORTAL_CONFIGURATION'],
  ]);
  const { ledger } = processor;
  const made = () => [ledger.products.size, ledger.prices.size, ledger.configurations.size];
  const before = made();
  const second = await run('setup', bare, 'Nightshift');
  expect(variablesIn(second.output)).toEqual(variablesIn(first.output));
  expect(made()).toEqual(before);
  const [portal] = [...ledger.configurations.values()];
  expect(portal).toMatchObject({
    features: {
      customer_update: {
        enabled: 'true',
        allowed_updates: { 0: 'address', 1: 'name', 2: 'email', 3: 'tax_id' },
      },
      subscription_cancel: { enabled: 'true', mode: 'at_period_end' },
      subscription_update: {
        enabled: 'true',
        default_allowed_updates: { 0: 'price', 1: 'promotion_code' },
        proration_behavior: 'always_invoice',
        schedule_at_period_end: { conditions: { 0: { type: 'decreasing_item_amount' } } },
      },
    },
  });
  // Without this feature customers cannot pause a subscription.
  expect(portal).not.toHaveProperty('features.subscription_pause');
  const checked = await run('check', { ...env, ...variablesIn(first.output) });
  expect(checked.output).toContain('the three prices are as the plans say');
  expect(checked.code).toBe(0);
});

test('billing:check names every fault of a price by its variable', async ({ processor }) => {
  const [, pro] = LOCAL_PRICES;
  const odd = { ...pro!, id: 'price_odd', currency: 'eur', unit_amount: 1, active: false };
  processor.ledger.prices.set(odd.id, {
    ...odd,
    recurring: { interval: 'year', interval_count: 1 },
  });
  const { code, output } = await run('check', {
    ...paymentEnvironment(processor.url),
    STRIPE_PRICE_PRO: 'price_odd',
    STRIPE_PRICE_SCALE: 'price_nowhere',
  });
  expect(code).toBe(1);
  for (const fault of [
    'STRIPE_PRICE_PRO: the price is not active',
    'STRIPE_PRICE_PRO: the price does not recur each month',
    'STRIPE_PRICE_PRO: the currency is eur, not usd',
    'STRIPE_PRICE_PRO: the amount is 1, not 3900 cents',
    'STRIPE_PRICE_SCALE: the processor has no such price',
  ]) {
    expect(output).toContain(fault);
  }
  expect(output).not.toContain('STRIPE_PRICE_STARTER');
});

test('the API does not start with a price that is wrong and says which, and does while the processor is away', async ({
  service,
  processor,
}) => {
  const [, pro] = LOCAL_PRICES;
  processor.ledger.prices.set('price_dear', { ...pro!, id: 'price_dear', unit_amount: 3_901 });
  const env = {
    NODE_ENV: 'test',
    HOST: '127.0.0.1',
    PORT: String(await freePort()),
    PUBLIC_URL: service.url,
    UI_ORIGIN: service.url,
    DATABASE_URL: service.databaseUrl,
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    BETTER_AUTH_SECRET: randomBytes(32).toString('base64'),
    GATEWAY_BASE_URL: service.gateway.url,
    GATEWAY_API_KEY: 'test-gateway-key',
    ALLOW_PRIVATE_NETWORK: 'true',
    ...paymentEnvironment(processor.url),
  };
  // Only the process that cannot check its prices listens.
  const dear = startNode('api/server.ts', { ...env, STRIPE_PRICE_PRO: 'price_dear' });
  const away = startNode('api/server.ts', { ...env, STRIPE_API_URL: 'http://127.0.0.1:9' });
  expect(await dear.exited).toBe(1);
  expect(dear.output()).toContain('STRIPE_PRICE_PRO: the amount is 3901, not 3900 cents');
  expect(dear.output()).not.toContain('STRIPE_PRICE_STARTER');
  try {
    await away.until('listening');
    expect(away.output()).toContain('the prices could not be checked');
  } finally {
    await away.end('SIGKILL');
  }
});

test('a key that is refused, a processor that is away and one that is not configured are said in a line', async ({
  processor,
}) => {
  const env = paymentEnvironment(processor.url);
  const wrongKey = { ...env, STRIPE_SECRET_KEY: 'sk_test_wrong' };
  const away = { ...env, STRIPE_API_URL: 'http://127.0.0.1:9' };
  const cases = [
    ['setup', wrongKey],
    ['check', away],
  ] as const;
  for (const [command, variables] of cases.slice(0, FULL_SIZE ? 2 : 1)) {
    const { code, output } = await run(command, variables);
    expect([command, code]).toEqual([command, 1]);
    expect(output).toContain('the payment processor could not be asked: ');
    expect(output).not.toMatch(/\n\s+at /);
  }
  expect(await run('check', {})).toMatchObject({
    code: 2,
    output: expect.stringContaining('no payment processor is configured'),
  });
});

test('billing:reconcile brings one organization or all in step, and names one that is no customer', async ({
  service,
  processor,
  ada,
}) => {
  await subscribed({ service, processor }, ada, 'pro');
  const env = { ...paymentEnvironment(processor.url), DATABASE_URL: service.databaseUrl };
  const unknown = await run('reconcile', env, 'org_nobody');
  expect([unknown.code, unknown.output]).toEqual([1, expect.stringContaining('is no customer')]);
  expect(await storedAccess(service, ada)).toMatchObject({ paid_plan: null });
  const one = await run('reconcile', env, ada.organizationId);
  expect([one.code, one.output]).toEqual([0, expect.stringContaining('synchronized')]);
  expect(await storedAccess(service, ada)).toMatchObject({ paid_plan: 'pro' });
  await changeOrganizations(service.deps.database, ada.organizationId, {
    paidPlan: null,
    paidUntil: null,
  });
  expect((await run('reconcile', env)).code).toBe(0);
  expect(await storedAccess(service, ada)).toMatchObject({ paid_plan: 'pro' });
});
