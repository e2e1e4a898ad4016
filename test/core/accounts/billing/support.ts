import { LOCAL_PRICES, LOCAL_SECRET_KEY, LOCAL_WEBHOOK_SECRET, paymentEnvironment } from '#dev/fakes/payments/local.ts';
import { startPaymentProcessor, type PaymentProcessor } from '#dev/fakes/payments/server.ts';
import type { Price, Subscription } from '#dev/fakes/payments/objects.ts';
import { signUp, type Person } from '#test/support/people.ts';
import { startService, type Service } from '#test/support/service.ts';
import { test as base } from 'vitest';
import { parseSamples, total } from '#test/core/upkeep/observability/scrape.ts';

const SWITCHES = { COMMERCIAL_ACQUISITION_ENABLED: 'true', CHECKOUT_ENABLED: 'true' };

/** Makes tests with a service that sells plans, and its payment processor. */
export function paidTest(env: Record<string, string> = SWITCHES) {
  return (
    base
      .extend('switches', { scope: 'file' }, env)
      // oxlint-disable-next-line no-empty-pattern -- vitest reads the names of what a fixture needs from its first parameter
      .extend('processor', { scope: 'file' }, async ({}, { onCleanup }) => {
        const processor = await startProcessor();
        processor.delivers = false;
        onCleanup(() => processor.stop());
        return processor;
      })
      .extend('service', { scope: 'file' }, async ({ processor, switches }, { onCleanup }) => {
        const service = await startService({
          env: { ...paymentEnvironment(processor.url), ...switches },
        });
        hearEvents(processor, service);
        onCleanup(() => service.close());
        return service;
      })
      .extend('ada', async ({ service }) => signUp(service))
  );
}

/** Starts a payment processor with our prices. Its events are sent nowhere until `hearEvents`. */
export async function startProcessor(): Promise<PaymentProcessor> {
  const processor = await startPaymentProcessor({
    port: 0,
    secretKey: LOCAL_SECRET_KEY,
    endpoint: { url: '', secret: LOCAL_WEBHOOK_SECRET },
  });
  for (const price of LOCAL_PRICES) processor.ledger.prices.set(price.id, price);
  return processor;
}

/** Makes the processor send its events to the service. */
export function hearEvents(processor: PaymentProcessor, { url }: Pick<Service, 'url'>): void {
  processor.endpoint = { ...processor.endpoint, url: `${url}/webhooks/stripe` };
}

export function priceOf(plan: 'starter' | 'pro' | 'scale'): Price {
  return LOCAL_PRICES.find(({ id }) => id === `price_${plan}`)!;
}

/** Makes the person's organization a customer, and returns the customer's id. */
export async function customerOf(service: Service, person: Person): Promise<string> {
  const { status, body } = await person.session.post('/v1/billing/checkout', {
    plan: 'starter',
    entrypoint: 'billing',
  });
  if (status !== 200) throw new Error(JSON.stringify(body));
  const found = await service.deps.database.row<{
    id: string;
  }>`select customer_id as id from billing_customers where organization_id = ${person.organizationId}`;
  return found!.id;
}

/** Subscribes an organization at the processor only. The service learns of it when the events are sent. */
export async function subscribed(
  { service, processor }: { service: Service; processor: PaymentProcessor },
  person: Person,
  plan: 'starter' | 'pro' | 'scale' = 'pro',
): Promise<{ customer: string; subscription: Subscription }> {
  const customer = await customerOf(service, person);
  const subscription = processor.ledger.subscribe(customer, priceOf(plan));
  return { customer, subscription };
}

/** Counts how often an alert is raised during `work`. */
export function growth(service: Service, alert: string, work: () => Promise<unknown>): Promise<number> {
  return growthOf(service, ['ras_payment_alerts_total', { alert }], work);
}

/** Returns by how much a counter grows during `work`. */
export async function growthOf(
  { registry }: Service,
  [name, labels]: readonly [string, Record<string, string>],
  work: () => Promise<unknown>,
): Promise<number> {
  const read = async () => total(parseSamples(await registry.metrics()), name, labels);
  const before = await read();
  await work();
  return (await read()) - before;
}

/** Reads the stored access of an organization. */
export function storedAccess({ deps: { database } }: Service, { organizationId }: Person) {
  return database.row<{ paid_plan: string | null; paid_until: Date | null }>`
    select paid_plan, paid_until, period_start, period_end,
      (select jsonb_agg(s order by id) from billing_subscriptions s where s.organization_id = o.id) as subscriptions
    from organizations o where id = ${organizationId}
  `;
}

/** Lists a customer's checkout sessions at the processor, in the order of their creation. */
export function sessionsOf({ ledger }: PaymentProcessor, customer: string) {
  return [...ledger.sessions.values()].filter((session) => session.customer === customer);
}
