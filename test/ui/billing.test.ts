import { randomBytes } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterAll, expect } from 'vitest';
import { paymentEnvironment } from '#dev/fakes/payments/local.ts';
import { freePort } from '#dev/stack/ports.ts';
import { signUp, type Person } from '#test/support/people.ts';
import type { Service } from '#test/support/service.ts';
import { hearEvents, priceOf, startProcessor } from '#test/core/accounts/billing/support.ts';
import { dashboardTest, startDashboard } from './support/fixtures.ts';
import { failing, holding, photograph } from './support/photograph.ts';
import { choosePlan, pay } from './support/steps/billing.ts';

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

/** Makes the person's organization a customer that subscribes, and has the service look. */
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

test('a plan is bought on the hosted page, and counts once the payment is known', async ({ service, visit }) => {
  hearEvents(processor, service);
  const ada = await signUp(service);
  const { page, settled, expectClean } = await visit(pathOf(ada), { as: ada });
  // The success page alone grants nothing.
  await page.goto(`${pathOf(ada)}?checkout=done`);
  await page.getByText('Confirming the payment').waitFor();
  expect((await look(ada)).data.plan).toBe('free');

  await page.goto(pathOf(ada));
  await choosePlan(page, 'Starter');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('Nothing was charged').waitFor();

  await choosePlan(page, 'Pro');
  await pay(page, 'Pro');
  await settled();
  await expectClean();

  await page.getByRole('button', { name: 'Change to Scale' }).click();
  await page.getByRole('button', { name: 'Change to $99.00' }).click();
  await page.getByRole('button', { name: 'Back' }).click();
  await page.getByRole('button', { name: 'Change to Pro' }).waitFor();
  expect((await look(ada)).data.plan).toBe('scale');
});

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

test('the page of billing in all its states', async ({ service, visit }) => {
  hearEvents(processor, service);
  const free = await signUp(service);
  const paid = await signUp(service);
  await subscribe(service, paid, 'pro');
  const leaving = await signUp(service);
  processor.ledger.cancelAtEnd(await subscribe(service, leaving, 'starter'));
  await look(leaving);
  const late = await signUp(service);
  const unpaid = await subscribe(service, late, 'pro');
  unpaid.status = 'past_due';
  await look(late);
  const member = await memberOf(late, await signUp(service));
  await photograph(visit, 'billing', [
    { name: 'free', path: pathOf(free), as: free },
    { name: 'subscribed', path: pathOf(paid), as: paid },
    {
      name: 'confirming',
      path: `${pathOf(free)}?checkout=done`,
      as: free,
      loading: true,
      act: says('Confirming'),
    },
    { name: 'confirmed', path: `${pathOf(paid)}?checkout=done`, as: paid },
    { name: 'past-due', path: pathOf(late), as: late },
    { name: 'member', path: pathOf(late), as: member, act: says('Only owners') },
    { name: 'ending', path: pathOf(leaving), as: leaving },
    {
      name: 'loading',
      path: pathOf(paid),
      as: paid,
      before: holding('/v1/billing'),
      loading: true,
      act: (page) => page.getByRole('heading', { name: 'Billing' }).waitFor(),
    },
    { name: 'failed', path: pathOf(paid), as: paid, before: failing('/v1/billing') },
  ]);
});

function says(text: string) {
  return (page: Page) => page.getByText(text).first().waitFor();
}

/** Makes the person a member of the owner's organization, with the owner's project open. */
async function memberOf(owner: Person, person: Person): Promise<Person> {
  const { data } = await owner.session.post(`/v1/organizations/${owner.organizationId}/invitations`, {
    email: person.email,
  });
  await person.session.post('/v1/invitations/accept', { token: data.token });
  return person;
}
