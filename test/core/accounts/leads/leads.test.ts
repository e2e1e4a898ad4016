import { expect } from 'vitest';
import { sql, type Sql } from '#lib/database/index.ts';
import { proves } from '#test/support/proves.ts';
import { ageCounts, changeRateLimits } from '#test/support/given.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import type { Service } from '#test/support/service.ts';

const test = serviceTest();

const LEAD = {
  name: 'Grace Hopper',
  email: 'grace@navy.example',
  company: 'Navy',
  message: 'We would like to run two hundred routines a day.',
};

function from(service: Service, address: string) {
  return service.anonymous.with({
    Origin: service.config.UI_ORIGIN,
    'X-Forwarded-For': address,
  });
}

function leads({ deps: { database } }: Service) {
  return database.rows<{ email: string }>`select email from business_leads order by id`;
}

test(
  'an enquiry from our pages is kept; a robot gets the same response and is not',
  proves('POST /public/business-leads'),
  async ({ service }) => {
    const person = from(service, '198.51.100.1');
    const kept = await person.post('/public/business-leads', LEAD);
    expect([kept.status, kept.data]).toEqual([202, { accepted: true }]);
    const robot = await person.post('/public/business-leads', {
      ...LEAD,
      email: 'robot@spam.example',
      website: 'https://spam.example',
    });
    expect([robot.status, robot.data]).toEqual([kept.status, kept.data]);
    expect(await leads(service)).toEqual([{ email: 'grace@navy.example' }]);
    const foreign = person.with({ Origin: 'https://evil.example' });
    expect((await foreign.post('/public/business-leads', LEAD)).body.error.code).toBe('origin_not_allowed');
    for (const wrong of [{ email: 'x' }, { message: 'short' }, { plan: 'scale' }, { name: '' }]) {
      const { status } = await from(service, '198.51.100.7').post('/public/business-leads', {
        ...LEAD,
        ...wrong,
      });
      expect([wrong, status]).toEqual([wrong, 400]);
    }
  },
);

test('an IPv6 network counts as one address, and a robot counts too', async ({ service }) => {
  const statuses: number[] = [];
  for (let index = 0; index < 6; index += 1) {
    const neighbour = from(service, `2001:db8:1:2::${index + 1}`);
    const body = index < 3 ? { ...LEAD, website: 'https://spam.example' } : LEAD;
    statuses.push((await neighbour.post('/public/business-leads', body)).status);
  }
  expect(statuses).toEqual([202, 202, 202, 202, 202, 429]);
});

test('an address has five an hour, all together two hundred, over all replicas', async ({ service }) => {
  const replica = await service.replica();
  try {
    const one = from(service, '198.51.100.2');
    const statuses: number[] = [];
    for (let index = 0; index < 6; index += 1) {
      statuses.push((await one.post('/public/business-leads', LEAD)).status);
    }
    expect(statuses).toEqual([202, 202, 202, 202, 202, 429]);
    const there = await fetch(`${replica.url}/public/business-leads`, {
      method: 'POST',
      headers: { ...one.headers, 'Content-Type': 'application/json' },
      body: JSON.stringify(LEAD),
    });
    expect(there.status).toBe(429);
    expect(Number(there.headers.get('Retry-After'))).toBeGreaterThan(0);
    const inAll = { credential: (rule: Sql) => sql`${rule} like 'lead-in-all:%'` };
    await changeRateLimits(service.deps.database, inAll, { count: 200 });
    const another = await from(service, '198.51.100.3').post('/public/business-leads', LEAD);
    expect(another.status).toBe(429);
  } finally {
    await replica.close();
  }
});

test('neither a network nor forty addresses use up what there is for all', async ({ service }) => {
  const { database } = service.deps;
  for (const rule of ['lead-repeated', 'lead-in-all']) await ageCounts(database, rule, '2 hours');
  const enquire = async (address: string) => (await from(service, address).post('/public/business-leads', LEAD)).status;
  const network: number[] = [];
  for (let host = 1; host <= 21; host += 1) network.push(await enquire(`192.0.2.${host}`));
  expect(network).toEqual([...Array.from({ length: 20 }, () => 202), 429]);
  for (let site = 0; site < 40; site += 1) {
    for (let time = 0; time < 5; time += 1) await enquire(`100.64.${site}.1`);
  }
  expect(await enquire('203.0.113.1')).toBe(202);
});
