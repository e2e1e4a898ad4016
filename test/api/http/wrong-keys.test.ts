import { expect, test as base, vi } from 'vitest';
import { limitKeyAttempts } from '#api/http/address-limits.ts';
import type { ApiClient } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';

const LIMIT = 5;
const test = serviceTest({ env: { WRONG_KEYS_PER_MINUTE: String(LIMIT) } });

let nextAddress = 0;
/** Returns an address that no other test uses. */
function newAddress(): string {
  nextAddress += 1;
  return `203.0.113.${nextAddress}`;
}

function from(client: ApiClient, address: string): ApiClient {
  return client.with({ 'X-Forwarded-For': address });
}

let nextKey = 0;
/** Returns a caller with a well-formed key, so that the service has to look it up. */
function wrongKey(client: ApiClient): ApiClient {
  nextKey += 1;
  const secret = String(nextKey).padStart(43, '0');
  return client.with({ Authorization: `Bearer ras_00000000_${secret}` });
}

async function exhaust(anonymous: ApiClient, address: string): Promise<void> {
  for (let count = 0; count < LIMIT; count += 1) {
    const { status } = await wrongKey(from(anonymous, address)).get('/v1/runs');
    expect(status).toBe(401);
  }
}

test('after too many wrong keys from an address no key is looked up, and the response says when to try again', async ({
  service,
}) => {
  const address = newAddress();
  await exhaust(service.anonymous, address);
  const statements = vi.spyOn(service.deps.database, 'query');
  const refused = await wrongKey(from(service.anonymous, address)).get('/v1/runs');
  expect(statements).not.toHaveBeenCalled();
  statements.mockRestore();
  expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limited']);
  const wait = Number(refused.headers.get('retry-after'));
  expect(wait).toBeGreaterThan(0);
  expect(wait).toBeLessThanOrEqual(60);
  const elsewhere = await wrongKey(from(service.anonymous, newAddress())).get('/v1/runs');
  expect(elsewhere.status).toBe(401);
});

test('a key that was right before still works from that address, and a new one has to wait', async ({
  service,
  ada,
}) => {
  const address = newAddress();
  const [used, unused] = [await ada.key(), await ada.key()];
  expect((await from(used, newAddress()).get('/v1/runs')).status).toBe(200);
  await exhaust(service.anonymous, address);
  expect((await from(used, address).get('/v1/runs')).status).toBe(200);
  expect((await from(unused, address).get('/v1/runs')).status).toBe(429);
  expect((await from(unused, newAddress()).get('/v1/runs')).status).toBe(200);
  expect((await from(unused, address).get('/v1/runs')).status).toBe(200);
});

test('right keys are never counted', async ({ service, ada }) => {
  const address = newAddress();
  const key = await ada.key();
  for (let count = 0; count < 3 * LIMIT; count += 1) {
    expect((await from(key, address).get('/v1/runs')).status).toBe(200);
  }
  expect((await wrongKey(from(service.anonymous, address)).get('/v1/runs')).status).toBe(401);
});

test('fifty at once do not pass the limit together', async ({ service }) => {
  const address = newAddress();
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => wrongKey(from(service.anonymous, address)).get('/v1/runs')),
  );
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 401)).toHaveLength(LIMIT);
  expect(statuses.filter((status) => status === 429)).toHaveLength(50 - LIMIT);
});

test('fifty requests at once with a key that is new here all pass', async ({ ada }) => {
  const key = from(await ada.key(), newAddress());
  const answers = await Promise.all(Array.from({ length: 50 }, () => key.get('/v1/runs')));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
});

test('a revoked key counts as wrong, and so does a text that is not a key', async ({ service, ada }) => {
  const address = newAddress();
  const key = await ada.key();
  await from(key, address).get('/v1/runs');
  const { data } = await ada.session.get('/v1/api-keys?limit=1');
  await ada.session.delete(`/v1/api-keys/${data[0].id}`);
  expect((await from(key, address).get('/v1/runs')).status).toBe(401);
  const malformed = from(service.anonymous, address).with({ Authorization: 'Basic eDp5' });
  for (let count = 1; count < LIMIT; count += 1) {
    expect((await malformed.get('/v1/runs')).status).toBe(401);
  }
  expect((await malformed.get('/v1/runs')).status).toBe(429);
  expect((await from(key, address).get('/v1/runs')).status).toBe(429);
});

test('another address in the header, or in the same IPv6 network, does not make another caller', async ({
  service,
}) => {
  const address = newAddress();
  await exhaust(service.anonymous, address);
  const forged = from(service.anonymous, `198.51.100.7, ${address}`);
  expect((await wrongKey(forged).get('/v1/runs')).status).toBe(429);
  await exhaust(service.anonymous, '2001:db8:1:2::1');
  const neighbour = from(service.anonymous, '2001:db8:1:2:ffff::9');
  expect((await wrongKey(neighbour).get('/v1/runs')).status).toBe(429);
  const other = from(service.anonymous, '2001:db8:1:3::1');
  expect((await wrongKey(other).get('/v1/runs')).status).toBe(401);
});

base('the minute begins with the first wrong key, and then the count starts at zero', async () => {
  let now = 1_000;
  const attempts = limitKeyAttempts(2, () => now);
  const attempt = (presented: string) => attempts.lookUp({ address: 'a', presented }, async () => undefined);
  await attempt('1');
  now += 40_000;
  await attempt('2');
  await expect(attempt('3')).rejects.toMatchObject({ headers: { 'Retry-After': '20' } });
  now += 20_000;
  expect(await attempt('4')).toBeUndefined();
});
