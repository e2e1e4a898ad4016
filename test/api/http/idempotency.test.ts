import { beforeAll, expect, test } from 'vitest';
import { sql, type Sql } from '#lib/database/index.ts';
import type { Answer, ApiClient } from '#test/support/client.ts';
import { signUp, type Person } from '#test/support/people.ts';
import { routineBody } from '#test/support/routines.ts';
import { sharedService, type Service } from '#test/support/service.ts';
import { changeDeliveries, changeIdempotencyKeys, plantDeliveries, plantRun } from '#test/support/given.ts';

let service: Service;
let ada: Person;
let bob: Person;
let key: ApiClient;
let serial = 0;

beforeAll(async () => {
  service = await sharedService();
  ada = await signUp(service);
  bob = await signUp(service);
  key = await ada.key();
});

test('the same key and body give the first response again, and create nothing more', async () => {
  const client = withKey(key);
  const first = await client.post('/v1/routines', routineBody({ name: 'once' }));
  const again = await client.post('/v1/routines', routineBody({ name: 'once' }));
  expect([first.status, again.status]).toEqual([201, 201]);
  expect(again.data).toEqual(first.data);
  expect(again.headers.get('etag')).toBe(first.headers.get('etag'));
  expect(first.headers.get('idempotent-replayed')).toBeNull();
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(again.body.requestId).not.toBe(first.body.requestId);
  const { data } = await key.get('/v1/routines');
  expect(data.filter((routine: { name: string }) => routine.name === 'once')).toHaveLength(1);
});

test('a repeated response has the webhook secret no second time, and none where there is none', async () => {
  const client = withKey(key);
  const body = routineBody({ webhookUrl: 'http://127.0.0.1:4999/' });
  const first = await client.post('/v1/routines', body);
  expect(first.data.webhookSecret).toMatch(/^whsec_/);
  const again = await client.post('/v1/routines', body);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(again.data).toEqual({ ...first.data, webhookSecret: null });
  const bare = withKey(key);
  await bare.post('/v1/routines', routineBody());
  expect((await bare.post('/v1/routines', routineBody())).data).not.toHaveProperty('webhookSecret');
});

test('a webhook secret is rotated once under a key, and shown once', async () => {
  const routine = routineBody({ webhookUrl: 'http://127.0.0.1:4999/' });
  const { id } = (await key.post('/v1/routines', routine)).data;
  const path = `/v1/routines/${id}/webhook-secret`;
  const client = withKey(key);
  const first = await client.post(path);
  expect(first.data.webhookSecret).toMatch(/^whsec_/);
  const again = await client.post(path);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(again.data).toEqual({ ...first.data, webhookSecret: null });
  expect(codeOf(await withKey(key).post(path))).toEqual([409, 'rotation_in_progress']);
});

test('a webhook is delivered again once under a key', async () => {
  const { database } = service.deps;
  const { id } = (await key.post('/v1/routines', routineBody())).data;
  const runId = await plantRun(database, id, { state: 'succeeded' });
  const [deliveryId] = await plantDeliveries(database, id, { runId, state: 'failed' });
  const path = `/v1/runs/${runId}/webhook-deliveries/${deliveryId}/redeliver`;
  const client = withKey(key);
  const first = await client.post(path);
  expect([first.status, first.data.webhookDeliveries[0].state]).toEqual([202, 'pending']);
  await changeDeliveries(database, deliveryId!, { state: 'failed' });
  const again = await client.post(path);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  const read = await key.get(`/v1/runs/${runId}`);
  expect(read.data.webhookDeliveries[0].state).toBe('failed');
});

test('the same key with another body is refused', async () => {
  const client = withKey(key);
  await client.post('/v1/skills', skillBody('one'));
  const other = await client.post('/v1/skills', skillBody('two'));
  expect(codeOf(other)).toEqual([422, 'idempotency_key_reused']);
});

test('of two requests at the same moment, one creates, and the other waits or gets the same response', async () => {
  for (let round = 0; round < 10; round++) {
    const client = withKey(key);
    const name = `pair ${round}`;
    const answers = await Promise.all([1, 2, 3, 4].map(() => client.post('/v1/skills', skillBody(name))));
    const codes = answers.map(({ status, body }) => body.error?.code ?? status);
    expect(codes).toContain(201);
    for (const code of codes) expect([201, 'idempotency_in_progress']).toContain(code);
    const created = answers.filter(({ status }) => status === 201).map(({ data }) => data.id);
    expect(new Set(created).size).toBe(1);
    const { data } = await key.get('/v1/skills');
    expect(data.filter((skill: { name: string }) => skill.name === name)).toHaveLength(1);
  }
});

test('while the first request is under way, the second one gets an error that says so', async () => {
  const client = withKey(key);
  const release = service.gateway.control.hold({ target: 'models' });
  // A replica has no model list yet, so its first request waits for the gateway.
  const slow = await service.replica();
  try {
    const on = async (base: string) => {
      const response = await fetch(`${base}/v1/routines`, {
        method: 'POST',
        headers: { ...client.headers, 'Content-Type': 'application/json' },
        body: JSON.stringify(routineBody({ name: 'slow' })),
      });
      return { status: response.status, body: (await response.json()) as Answer['body'] };
    };
    const first = on(slow.url);
    const claimed = () =>
      service.deps.database.row`select 1 from idempotency_keys where key = ${client.headers['Idempotency-Key']}`;
    await expect.poll(claimed).toBeDefined();
    const second = await on(service.url);
    expect([second.status, second.body.error.code]).toEqual([409, 'idempotency_in_progress']);
    release();
    expect((await first).status).toBe(201);
    expect((await on(service.url)).status).toBe(201);
  } finally {
    await slow.close();
  }
});

test.each([
  ['a skill', () => key, '/v1/skills', () => skillBody('crashed')],
  [
    'a routine',
    () => key,
    '/v1/routines',
    () => routineBody({ name: 'crashed', webhookUrl: 'http://127.0.0.1:4999/' }),
  ],
  ['an API key', () => ada.session, '/v1/api-keys', () => ({ name: 'crashed' })],
  ['an organization', () => bob.session, '/v1/organizations', () => ({ name: 'crashed' })],
  ['a project', () => ada.session, '/v1/projects', () => ({ name: 'crashed', organizationId: ada.organizationId })],
])(
  'a crash between the commit and the answer does not double %s: the next attempt takes over',
  async (_name, caller, path, body) => {
    const client = withKey(caller());
    const first = await client.post(path, body());
    expect(first.status).toBe(201);
    // A process that dies after its commit leaves a claim without a response. The claim's minute has passed.
    await forgetAnswer(client, sql`now() - interval '1 second'`);
    const again = await client.post(path, body());
    expect([again.status, again.data.id]).toEqual([201, first.data.id]);
    const listed = await caller().get(`${path}?limit=200`);
    const same = listed.data.filter((item: { name: string }) => item.name === 'crashed');
    expect(same).toHaveLength(1);
    if (first.data.key !== undefined) {
      const taken = service.anonymous.with({ Authorization: `Bearer ${again.data.key}` });
      expect((await taken.get('/v1/routines')).status).toBe(200);
    }
    if (first.data.webhookSecret !== undefined) {
      expect(again.data.webhookSecret).toBe(first.data.webhookSecret);
    }
  },
);

test('a claim whose minute is not over is in progress, also after a crash', async () => {
  const client = withKey(key);
  await client.post('/v1/skills', skillBody('young claim'));
  await forgetAnswer(client, sql`now() + interval '30 seconds'`);
  const again = await client.post('/v1/skills', skillBody('young claim'));
  expect(codeOf(again)).toEqual([409, 'idempotency_in_progress']);
});

test('a claim cannot be taken over with another body', async () => {
  const client = withKey(key);
  await client.post('/v1/skills', skillBody('mine'));
  await forgetAnswer(client, sql`now() - interval '1 second'`);
  const other = await client.post('/v1/skills', skillBody('yours'));
  expect(codeOf(other)).toEqual([422, 'idempotency_key_reused']);
});

test('a refused request does not use its key up', async () => {
  const client = withKey(key);
  const refused = await client.post('/v1/routines', routineBody({ skills: ['no-such-skill'] }));
  expect(codeOf(refused)).toEqual([400, 'invalid_skill']);
  expect((await client.post('/v1/routines', routineBody())).status).toBe(201);
});

test('the same key of another project, or on another operation, is another key', async () => {
  const client = withKey(key);
  const other = (await bob.key()).with({ 'Idempotency-Key': client.headers['Idempotency-Key']! });
  const mine = await client.post('/v1/skills', skillBody('shared'));
  const theirs = await other.post('/v1/skills', skillBody('shared'));
  expect(theirs.status).toBe(201);
  expect(theirs.data.id).not.toBe(mine.data.id);
  expect(theirs.headers.get('idempotent-replayed')).toBeNull();
  expect((await client.post('/v1/routines', routineBody())).status).toBe(201);
});

test('a manual run is started once', async () => {
  const { data: routine } = await key.post('/v1/routines', routineBody());
  const client = withKey(key);
  const first = await client.post(`/v1/routines/${routine.id}/run`);
  const again = await client.post(`/v1/routines/${routine.id}/run`);
  expect([first.status, again.status]).toEqual([202, 202]);
  expect(again.data.id).toBe(first.data.id);
  expect((await key.get(`/v1/routines/${routine.id}/runs`)).data).toHaveLength(1);
});

test('what is kept for a replay holds no secret in the clear', async () => {
  const client = withKey(ada.session.with({ 'X-Project-Id': ada.projectId }));
  const first = await client.post('/v1/api-keys', { name: 'sealed' });
  const stored = await service.deps.database.row<{
    answer: string;
  }>`select * from idempotency_keys where key = ${client.headers['Idempotency-Key']}`;
  expect(stored?.answer).toMatch(/^v1\.[0-9a-f]{8}\.[\w-]+$/);
  expect(JSON.stringify(stored)).not.toContain(first.data.key.split('_')[2]);
  expect(JSON.stringify(stored)).not.toContain('sealed');
  const again = await client.post('/v1/api-keys', { name: 'sealed' });
  expect(again.data).toEqual({ ...first.data, key: null });
});

test.each([
  ['a space', 'a b'],
  ['256 characters', 'x'.repeat(256)],
  ['letters beyond ASCII', 'schlüssel'],
])('a key with %s is refused', async (_name, value) => {
  const answer = await key.with({ 'Idempotency-Key': value }).post('/v1/skills', skillBody('x'));
  expect(codeOf(answer)).toEqual([400, 'invalid_request']);
  expect(answer.body.error.message).toContain('Idempotency-Key');
});

function withKey(client: ApiClient): ApiClient {
  serial += 1;
  return client.with({ 'Idempotency-Key': `attempt-${serial}` });
}

function skillBody(name: string) {
  return { name, instructions: 'x'.repeat(20) };
}

async function forgetAnswer(client: ApiClient, lockedUntil: Sql): Promise<void> {
  const key = client.headers['Idempotency-Key']!;
  const open = { status: null, answer: null, lockedUntil };
  await changeIdempotencyKeys(service.deps.database, { key }, open);
}

function codeOf(answer: Answer): [number, string] {
  return [answer.status, answer.body.error.code];
}
