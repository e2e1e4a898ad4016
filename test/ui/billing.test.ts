import { randomBytes } from 'node:crypto';
import { afterAll, expect } from 'vitest';
import { paymentEnvironment } from '#dev/fakes/payments/local.ts';
import { freePort } from '#dev/stack/ports.ts';
import { signUp, type Person } from '#test/support/people.ts';
import type { Service } from '#test/support/service.ts';
import { priceOf, startProcessor } from '#test/core/accounts/billing/support.ts';
import { dashboardTest, startDashboard } from './support/fixtures.ts';

const processor = await startProcessor();
afterAll(() => processor.stop());

const test = dashboardTest({
  env: {
    ...paymentEnvironment(processor.url),
    COMMERCIAL_ACQUISITION_ENABLED: 'true',
    CHECKOUT_ENABLED: 'true',
  },
});

function pathOf({ projectId }: Person): string {
  return `/p/${projectId}/billing`;
}

/** Makes the person's organization a paying customer, and makes the service read the subscription. */
async function subscribe(service: Service, person: Person, plan: 'starter' | 'pro') {
  await person.session.post('/v1/billing/checkout', { plan, entrypoint: 'billing' });
  const found = await service.deps.database.row<{
    id: string;
  }>`select customer_id as id from billing_customers where organization_id = ${person.organizationId}`;
  const subscription = processor.ledger.subscribe(found!.id, priceOf(plan));
  await look(person);
  return subscription;
}

function look(person: Person) {
  return person.session.get('/v1/billing?refresh=true');
}

test('an enquiry is kept, and its faults stand at their fields', async ({ service, visit }) => {
  const grace = await signUp(service);
  const { page } = await visit(pathOf(grace), { as: grace });
  await page.getByRole('button', { name: 'Send the enquiry' }).click();
  await page.getByRole('alert').first().waitFor();
  const message = `We run ${randomBytes(4).toString('hex')} routines in forty shops.`;
  await page.getByLabel('What do you need?').fill(message);
  await page.getByRole('button', { name: 'Send the enquiry' }).click();
  await page.getByText(`We will answer to ${grace.email}`).waitFor();
  const kept = await service.deps.database.row`select 1 from business_leads where message = ${message}`;
  expect(kept).toBeDefined();
});

test('while nothing is offered no price is shown, and a customer can still leave', async ({ service, visit }) => {
  const overrides = { COMMERCIAL_ACQUISITION_ENABLED: 'false', CHECKOUT_ENABLED: 'false' };
  const [free, paid, replica] = await Promise.all([signUp(service), signUp(service), service.replica(overrides)]);
  await subscribe(service, paid, 'starter');
  const config = { ...service.config, COMMERCIAL_ACQUISITION_ENABLED: false };
  const dashboard = await startDashboard({ url: replica.url, config }, await freePort());
  try {
    const mine = await visit(`${dashboard.url}${pathOf(free)}`, { as: free });
    await mine.page.getByText('Runs in this period').waitFor();
    await mine.settled();
    expect(await mine.page.locator('main').textContent()).not.toMatch(/\$|Choose|enquiry/);
    expect(await mine.page.getByRole('link', { name: 'Billing' }).count()).toBe(0);

    const theirs = await visit(`${dashboard.url}/p/${paid.projectId}/settings`, { as: paid });
    await theirs.page.getByRole('link', { name: 'Plan and payment' }).click();
    await theirs.page.getByRole('button', { name: 'Invoices and payment' }).waitFor();
    await theirs.settled();
    expect(await theirs.page.locator('main').textContent()).not.toMatch(/Change to|Plans/);
  } finally {
    await dashboard.close();
    await replica.close();
  }
});
