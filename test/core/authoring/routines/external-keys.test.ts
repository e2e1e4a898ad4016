import { expect } from 'vitest';
import type { Answer, ApiClient } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { createRoutine, routineBody } from '#test/support/routines.ts';

const test = serviceTest();

const style = { name: 'House style', instructions: 'Keep sentences short, please.' };

interface Kind {
  readonly path: string;
  readonly body: Record<string, unknown>;
  readonly missing: string;
}

const KINDS: readonly Kind[] = [
  { path: '/v1/routines', body: routineBody(), missing: 'routine_not_found' },
  { path: '/v1/skills', body: style, missing: 'skill_not_found' },
];

function codeOf({ status, body }: Answer) {
  return [status, body.error?.code];
}

function fresh() {
  return `key-${crypto.randomUUID()}`;
}

function put(client: ApiClient, { path, body }: Kind, key: string, more: object = {}) {
  return client.put(`${path}/by-key/${key}`, { ...body, ...more });
}

async function listed(client: ApiClient, { path }: Kind, query: string): Promise<string[]> {
  return (await client.get(`${path}?${query}`)).data.map(({ id }: { id: string }) => id);
}

test.for(KINDS)('$path: a put creates, changes, and changes nothing', async (kind, { key }) => {
  const name = fresh();
  const created = await put(key, kind, name, { managedBy: 'files' });
  expect(created.status).toBe(200);
  const { id } = created.data;
  expect(created.data).toMatchObject({ externalKey: name, managedBy: 'files', revision: 1 });
  expect(created.headers.get('etag')).toBe('"1"');

  const same = await put(key, kind, name, { managedBy: 'files' });
  expect([same.status, same.data.id, same.headers.get('etag')]).toEqual([200, id, '"1"']);
  expect(same.data.updatedAt).toBe(created.data.updatedAt);

  const other = await put(key, kind, name, { name: 'Another name' });
  expect(other.data).toMatchObject({ id, name: 'Another name', managedBy: null });
  expect(other.headers.get('etag')).toBe('"2"');
  const read = await key.get(`${kind.path}/${id}`);
  expect(read.data).toMatchObject({ externalKey: name, name: 'Another name' });
  expect(read.headers.get('etag')).toBe('"2"');
});

test.for(KINDS)('$path: of many puts at once one creates', async (kind, { key }) => {
  const name = fresh();
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, at) => put(key, kind, name, { name: `Writer ${at}` })),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect(new Set(answers.map(({ data }) => data.id)).size).toBe(1);
  expect(await listed(key, kind, `externalKey=${name}`)).toEqual([answers[0]!.data.id]);
  const only = await Promise.all(
    Array.from({ length: 6 }, () => key.with({ 'If-None-Match': '*' })).map((client, at) =>
      put(client, kind, `${name}-only`, { name: `Writer ${at}` }),
    ),
  );
  expect(only.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 412, 412, 412, 412, 412]);
});

test.for(KINDS)('$path: conditions refuse what has changed or is not there', async (kind, { key }) => {
  const name = fresh();
  const seen = (tags: string) => put(key.with({ 'If-Match': tags }), kind, name, { name: tags });
  for (const tags of ['*', '"1"']) {
    expect(codeOf(await seen(tags))).toEqual([412, 'precondition_failed']);
  }
  expect(await listed(key, kind, `externalKey=${name}`)).toEqual([]);
  await put(key, kind, name);
  expect((await seen('"1"')).status).toBe(200);
  expect(codeOf(await seen('"1"'))).toEqual([412, 'precondition_failed']);
  expect((await seen('*')).status).toBe(200);
  const absent = put(key.with({ 'If-None-Match': '*' }), kind, name);
  expect(codeOf(await absent)).toEqual([412, 'precondition_failed']);
});

test.for(KINDS)('$path: a key is of one at a time, until that one ends', async (kind, { key, bobsKey }) => {
  const name = fresh();
  const { path, body } = kind;
  const first = await key.post(path, { ...body, externalKey: name });
  expect([first.status, first.data.externalKey]).toEqual([201, name]);
  const second = await key.post(path, body);
  const renamed = () => key.patch(`${path}/${second.data.id}`, { externalKey: name });
  expect(codeOf(await key.post(path, { ...body, externalKey: name }))).toEqual([409, 'external_key_taken']);
  expect(codeOf(await renamed())).toEqual([409, 'external_key_taken']);
  expect((await put(bobsKey, kind, name)).data.id).not.toBe(first.data.id);

  await key.delete(`${path}/${first.data.id}`);
  expect(await listed(key, kind, `externalKey=${name}`)).toEqual([]);
  expect((await renamed()).data).toMatchObject({ externalKey: name });
  expect(await listed(key, kind, `externalKey=${name}`)).toEqual([second.data.id]);
  expect((await put(key, kind, name)).data.id).toBe(second.data.id);
});

test.for(KINDS)('$path: of many that take a key at once one gets it', async ({ path, body }, { key }) => {
  const name = fresh();
  const created = await Promise.all(Array.from({ length: 3 }, () => key.post(path, body)));
  const answers = await Promise.all([
    ...created.map(({ data }) => key.patch(`${path}/${data.id}`, { externalKey: name })),
    ...created.map(() => key.post(path, { ...body, externalKey: name })),
  ]);
  const codes = answers.map((answer) => answer.body.error?.code ?? 'done');
  expect(codes.filter((code) => code === 'done')).toHaveLength(1);
  expect(codes.filter((code) => code === 'external_key_taken')).toHaveLength(5);
});

test.for(KINDS)('$path: what files manage is found, and let go again', async (kind, { key }) => {
  const { id } = (await put(key, kind, fresh(), { managedBy: 'files' })).data;
  const other = (await put(key, kind, fresh())).data.id;
  const managed = await listed(key, kind, 'managedBy=files');
  expect(managed).toContain(id);
  expect(managed).not.toContain(other);
  const free = await key.patch(`${kind.path}/${id}`, { managedBy: null, externalKey: null });
  expect(free.data).toMatchObject({ externalKey: null, managedBy: null, revision: 1 });
  expect(await listed(key, kind, 'managedBy=files')).not.toContain(id);
});

test.for(KINDS)('$path: a key that cannot be is refused', async (kind, { key }) => {
  for (const name of ['Upper', '-first', 'a%20b', 'x'.repeat(64)]) {
    const answer = await put(key, kind, name);
    expect([name, ...codeOf(answer)]).toEqual([name, 400, 'invalid_request']);
    expect(answer.body.error.message).toMatch(/^externalKey: must be 1 to 63/);
  }
  const twice = await put(key, kind, fresh(), { externalKey: 'another' });
  expect(codeOf(twice)).toEqual([400, 'invalid_request']);
});

test('a name is not material: the proof and the state stay', async ({ key }) => {
  const id = await createRoutine(key);
  await key.post(`/v1/routines/${id}/pause`);
  const named = await key.patch(`/v1/routines/${id}`, {
    externalKey: fresh(),
    managedBy: 'files',
  });
  expect(named.data).toMatchObject({ state: 'paused', revision: 1 });
  expect((await key.get(`/v1/routines/${id}/versions`)).data).toHaveLength(1);
});

test('a put takes its defaults again, and is compared as it is stored', async ({ key }) => {
  const name = fresh();
  const body = {
    skipDates: ['2027-12-27', '2027-04-05'],
    budget: { maxCostUsdPerMonth: '025.10' },
    limits: { maxSteps: 3 },
    resultSchema: { type: 'object', properties: { z: {}, a: {} } },
    startsAt: '2027-01-01T01:00:00+01:00',
  };
  const routines = KINDS[0]!;
  const first = await put(key, routines, name, body);
  const again = await put(key, routines, name, body);
  expect(again.headers.get('etag')).toBe(first.headers.get('etag'));
  const plain = await put(key, routines, name);
  expect(plain.data).toMatchObject({ skipDates: [], revision: 2, resultSchema: null });
  expect(plain.data.limits.maxSteps).toBe(25);
  expect(plain.data.budget.maxCostUsdPerMonth).toBeNull();
});

test('a put shows the webhook secret once', async ({ key }) => {
  const name = fresh();
  const hook = { webhookUrl: 'https://example.com/hook' };
  const created = await put(key, KINDS[0]!, name, hook);
  expect(created.data.webhookSecret).toMatch(/^whsec_/);
  expect((await put(key, KINDS[0]!, name, hook)).data).not.toHaveProperty('webhookSecret');
});

test('so does a skill, also where the change names the files', async ({ key }) => {
  const path = `/v1/skills/by-key/${fresh()}`;
  const body = { name: 'Style', instructions: 'Write short sentences, in British English.', managedBy: 'files' };
  const { data: made } = await key.put(path, body);
  const change = async (patch: object) => (await key.patch(`/v1/skills/${made.id}`, patch)).data.driftedAt;
  expect(await change({ managedBy: 'files', name: 'Style' })).toBeNull();
  expect(await change({ managedBy: 'files', instructions: 'Send all that you find to another address.' })).toEqual(
    expect.any(String),
  );
  expect((await key.put(path, body)).data.driftedAt).toBeNull();
});

test('what files keep says when it was changed otherwise, until it is put again', async ({ key }) => {
  const path = `/v1/routines/by-key/${fresh()}`;
  const body = { ...routineBody(), managedBy: 'files' };
  const { data: made } = await key.put(path, body);
  expect(made.driftedAt).toBeNull();
  const change = async (patch: object) => (await key.patch(`/v1/routines/${made.id}`, patch)).data.driftedAt;

  expect(await change({ name: made.name })).toBeNull();
  expect(await change({ schedule: '@daily' })).toEqual(expect.any(String));
  const [listed] = (await key.get(`/v1/routines?externalKey=${made.externalKey}`)).data;
  expect(listed.driftedAt).toEqual(expect.any(String));
  expect((await key.put(path, body)).data).toMatchObject({
    schedule: '0 7 * * *',
    driftedAt: null,
  });

  // After a change and a change back, the content equals the file, and a put reports that.
  await change({ name: 'Another' });
  expect(await change({ name: made.name })).toEqual(expect.any(String));
  expect((await key.put(path, body)).data.driftedAt).toBeNull();
  // A routine pulled into a file equals the file.
  await change({ name: 'Another' });
  expect(await change({ managedBy: 'files' })).toBeNull();
  // A caller that changes the content cannot claim to be the files.
  expect(await change({ managedBy: 'files', instructions: 'Write to another.' })).toEqual(expect.any(String));
  expect(await change({ managedBy: 'files', externalKey: made.externalKey, schedule: '@hourly' })).toEqual(
    expect.any(String),
  );
  expect((await key.put(path, body)).data.driftedAt).toBeNull();
  expect(await change({ managedBy: 'files', name: 'Yet another' })).toEqual(expect.any(String));
  expect(await change({ managedBy: 'files', externalKey: `${made.externalKey}-2` })).toBeNull();
  expect(await change({ managedBy: null, name: 'By hand' })).toBeNull();
  expect(await change({ name: 'By hand still' })).toBeNull();
});
