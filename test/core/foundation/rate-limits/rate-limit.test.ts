import { afterAll, beforeAll, expect, test } from 'vitest';
import { ApiClient } from '#test/support/client.ts';
import { signUp, type Person } from '#test/support/people.ts';
import { proves } from '#test/support/proves.ts';
import { startService, type Service } from '#test/support/service.ts';
import { EVERY, changeRateLimits, earlier } from '#test/support/given.ts';

const LIMIT = 20;
let service: Service;
let other: Awaited<ReturnType<Service['replica']>>;
let ada: Person;

beforeAll(async () => {
  service = await startService({
    env: { RATE_LIMIT_PER_MINUTE: String(LIMIT) },
  });
  other = await service.replica();
  ada = await signUp(service);
});
afterAll(async () => {
  await other.close();
  await service.close();
});

test(
  'two replicas count one window, and the request over the limit is told when to come back',
  proves('limit.rate', 'limit.rate-headers', '429 rate limit'),
  async () => {
    const key = await ada.key();
    await startOfWindow();
    const clients = [key, new ApiClient(other.url, key.headers)];
    const remaining: number[] = [];
    for (let index = 0; index < LIMIT; index++) {
      const answer = await clients[index % 2]!.get('/v1/runs');
      expect(answer.status).toBe(200);
      expect(answer.headers.get('x-ratelimit-limit')).toBe(String(LIMIT));
      remaining.push(Number(answer.headers.get('x-ratelimit-remaining')));
    }
    expect(remaining).toEqual(Array.from({ length: LIMIT }, (_, index) => LIMIT - 1 - index));
    for (const client of clients) {
      const refused = await client.get('/v1/runs');
      expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limited']);
      expect(refused.headers.get('x-ratelimit-remaining')).toBe('0');
      const wait = Number(refused.headers.get('retry-after'));
      expect(wait).toBeGreaterThanOrEqual(1);
      expect(wait).toBeLessThanOrEqual(60);
    }
  },
);

test('one credential at its limit does not slow another of the same project', async () => {
  const [busy, calm] = [await ada.key(), await ada.key()];
  await startOfWindow();
  const answers = await Promise.all(Array.from({ length: LIMIT + 5 }, () => busy.get('/v1/runs')));
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(5);
  expect((await calm.get('/v1/runs')).status).toBe(200);
});

test('a key is counted where there is no route, and one that does not work is told so everywhere', async () => {
  const key = await ada.key();
  await startOfWindow();
  const dead = service.anonymous.with({ Authorization: `Bearer ras_00000000_${'0'.repeat(43)}` });
  const asked = [
    (client: ApiClient) => client.get('/v1/nothing'),
    (client: ApiClient) => client.delete('/v1/runs'),
    (client: ApiClient) => client.get('/v1/organizations'),
  ];
  const answers = [];
  for (const ask of asked) answers.push(await ask(key));
  expect(answers.map(({ status }) => status)).toEqual([404, 405, 403]);
  expect(answers.map(({ headers }) => headers.get('x-ratelimit-remaining'))).toEqual(
    [1, 2, 3].map((used) => String(LIMIT - used)),
  );
  for (const ask of asked) {
    const { status, body } = await ask(dead);
    expect([status, body.error.code]).toEqual([401, 'invalid_api_key']);
  }
});

test('the next window counts from zero', async () => {
  const key = await ada.key();
  await startOfWindow();
  await Promise.all(Array.from({ length: LIMIT + 1 }, () => key.get('/v1/runs')));
  await changeRateLimits(service.deps.database, EVERY, { windowStart: earlier('1 minute') });
  const answer = await key.get('/v1/runs');
  expect(answer.headers.get('x-ratelimit-remaining')).toBe(String(LIMIT - 1));
});

test('a session is a credential too, on every operation', async () => {
  const person = await signUp(service);
  await startOfWindow();
  const before = Number((await person.session.get('/v1/organizations')).headers.get('x-ratelimit-remaining'));
  const after = await person.session.get('/v1/routines');
  expect(Number(after.headers.get('x-ratelimit-remaining'))).toBe(before - 1);
});

test('a request from a page of another origin is refused, and counted', async () => {
  const person = await signUp(service);
  const elsewhere = person.session.with({ Origin: 'https://elsewhere.example.com' });
  await startOfWindow();
  const before = Number((await person.session.get('/v1/organizations')).headers.get('x-ratelimit-remaining'));
  const refused = await elsewhere.post('/v1/organizations', { name: 'Elsewhere' });
  expect([refused.status, refused.body.error.code]).toEqual([403, 'origin_not_allowed']);
  expect(refused.headers.get('x-ratelimit-limit')).toBe(String(LIMIT));
  expect(Number(refused.headers.get('x-ratelimit-remaining'))).toBe(before - 1);
});

/** Waits out the last seconds of a minute. Windows are whole minutes, so a count across two proves nothing. */
async function startOfWindow(): Promise<void> {
  const left = 60_000 - (Date.now() % 60_000);
  if (left < 10_000) await new Promise((resolve) => setTimeout(resolve, left + 100));
}
