import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { routes } from '#api/routes.ts';
import { newId } from '#lib/ids.ts';
import { SCOPES } from '#core/accounts/organizations/index.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { fromElsewhere, signUp } from '#test/support/people.ts';
import { proves } from '#test/support/proves.ts';
import { pathFor } from '#test/support/operations.ts';
import { ago, changeKeys, removePeople } from '#test/support/given.ts';

const test = serviceTest();

test(
  'a key is shown once, in its documented form, with the four default scopes',
  proves('POST /v1/api-keys', 'key.form', 'key.default-scopes'),
  async ({ ada }) => {
    const created = await ada.session.post('/v1/api-keys', { name: 'nightly' });
    expect(created.status).toBe(201);
    expect(created.data.key).toMatch(/^ras_[0-9A-Za-z]{8}_[0-9A-Za-z]{43}$/);
    expect(created.data.key.split('_')[1]).toBe(created.data.prefix);
    expect(created.data.scopes).toEqual(['models:read', 'routines:read', 'runs:read', 'runs:write']);
    const listed = await ada.session.get('/v1/api-keys');
    expect(listed.data).toContainEqual({
      id: created.data.id,
      name: 'nightly',
      prefix: created.data.prefix,
      scopes: created.data.scopes,
      createdBy: { id: ada.userId, name: 'Test Person' },
      createdAt: expect.any(String),
      expiresAt: null,
      lastUsedAt: null,
    });
  },
);

test(
  'the table holds the SHA-256 of the key and nothing of the key but its prefix, and no response holds the hash',
  proves('key.hash', 'GET /v1/api-keys'),
  async ({ service, ada }) => {
    const { data } = await ada.session.post('/v1/api-keys', { name: 'hashed' });
    const stored = await service.deps.database.row<
      Record<string, unknown>
    >`select * from api_keys where id = ${data.id}`;
    expect(stored?.['hash']).toEqual(createHash('sha256').update(data.key).digest());
    const secret = data.key.split('_')[2];
    expect(JSON.stringify(stored)).not.toContain(secret);
    const listed = await ada.session.get('/v1/api-keys');
    expect(JSON.stringify(listed.body)).not.toContain(secret);
    for (const encoding of ['hex', 'base64', 'base64url'] as const) {
      const hash = createHash('sha256').update(data.key).digest(encoding);
      expect(JSON.stringify(listed.body)).not.toContain(hash);
    }
  },
);

test(
  'a revoked key is refused on the next request and leaves the list',
  proves('DELETE /v1/api-keys/:apiKeyId'),
  async ({ service, ada }) => {
    const { data } = await ada.session.post('/v1/api-keys', { name: 'short-lived' });
    const key = service.anonymous.with({ Authorization: `Bearer ${data.key}` });
    expect((await key.get('/v1/runs')).status).toBe(200);
    const revoked = await ada.session.delete(`/v1/api-keys/${data.id}`);
    expect(revoked.data).toMatchObject({ id: data.id, name: 'short-lived' });
    const after = await key.get('/v1/runs');
    expect([after.status, after.body.error.code]).toEqual([401, 'invalid_api_key']);
    expect(after.headers.get('www-authenticate')).toBe('Bearer');
    const { data: listed } = await ada.session.get('/v1/api-keys');
    expect(listed.map((shown: { id: string }) => shown.id)).not.toContain(data.id);
    const again = await ada.session.delete(`/v1/api-keys/${data.id}`);
    expect([again.status, again.body.error.code]).toEqual([404, 'api_key_not_found']);
  },
);

test("a person cannot revoke another project's key", async ({ service, ada }) => {
  const bob = await signUp(service);
  const { data } = await ada.session.post('/v1/api-keys', { name: 'mine' });
  for (const id of [data.id, newId('apiKey'), 'nonsense']) {
    const answer = await bob.session.delete(`/v1/api-keys/${id}`);
    expect([answer.status, answer.body.error.code]).toEqual([404, 'api_key_not_found']);
  }
  const key = service.anonymous.with({ Authorization: `Bearer ${data.key}` });
  expect((await key.get('/v1/runs')).status).toBe(200);
});

test.for<[string, () => string]>([
  ['an unknown key', () => `Bearer ras_00000000_${'0'.repeat(43)}`],
  ['another tag', () => `Bearer abc_00000000_${'0'.repeat(43)}`],
  ['no key', () => 'Bearer'],
  ['another scheme', () => 'Basic dXNlcjpwYXNz'],
  ['a very long key', () => `Bearer ${'x'.repeat(5_000)}`],
  ['bytes beyond ASCII', () => 'Bearer ras_äöü'],
])('%s is refused', async ([_name, authorization], { service }) => {
  const answer = await service.anonymous.with({ Authorization: authorization() }).get('/v1/routines');
  expect([answer.status, answer.body.error.code]).toEqual([401, 'invalid_api_key']);
});

test('a key whose secret is one character off is refused and does not use up the window of the real one', async ({
  service,
  ada,
}) => {
  const { data } = await ada.session.post('/v1/api-keys', { name: 'real' });
  const last = data.key.at(-1) === 'a' ? 'b' : 'a';
  const guess = service.anonymous.with({ Authorization: `Bearer ${data.key.slice(0, -1)}${last}` });
  for (let index = 0; index < 5; index++) expect((await guess.get('/v1/runs')).status).toBe(401);
  const real = service.anonymous.with({ Authorization: `Bearer ${data.key}` });
  const answer = await real.get('/v1/runs');
  const limit = service.config.RATE_LIMIT_PER_MINUTE;
  expect(answer.headers.get('x-ratelimit-remaining')).toBe(String(limit - 1));
});

test(
  'every session-only operation responds to a key with session_required, and to a wrong one with invalid_api_key',
  proves('auth.session-only', '403 session_required'),
  async ({ service, ada }) => {
    const good = await ada.key();
    // Wrong keys are limited by address.
    const bad = service.anonymous.with({ Authorization: 'Bearer nonsense', ...fromElsewhere() });
    const sessionOnly = routes.filter(({ spec }) => spec.auth.endsWith('session'));
    const own = sessionOnly.filter(({ spec }) => spec.auth !== 'key-or-session');
    expect(own.length).toBeGreaterThanOrEqual(7);
    for (const { spec } of own) {
      for (const [client, status, code] of [
        [good, 403, 'session_required'],
        [bad, 401, 'invalid_api_key'],
      ] as const) {
        const answer = await client.send(spec.method, pathFor(spec));
        expect([spec.id, answer.status, answer.body.error.code]).toEqual([spec.id, status, code]);
      }
    }
  },
);

test('what a session-only operation refuses to a key counts, with the headers of the limit', async ({
  service,
  ada,
}) => {
  const key = await ada.key(['models:read']);
  const limit = service.config.RATE_LIMIT_PER_MINUTE;
  for (const [index, path] of ['/v1/organizations', '/v1/billing', '/v1/runs'].entries()) {
    const { status, headers } = await key.get(path);
    expect([status, headers.get('x-ratelimit-limit')]).toEqual([403, String(limit)]);
    expect(headers.get('x-ratelimit-remaining')).toBe(String(limit - 1 - index));
  }
});

test('another scheme is told that a bearer token is expected', async ({ service }) => {
  const basic = service.anonymous.with({ Authorization: 'Basic YWRhOnNlY3JldA==' });
  for (const path of ['/v1/runs', '/v1/organizations']) {
    const { status, body } = await basic.get(path);
    expect([status, body.error.code]).toEqual([401, 'invalid_api_key']);
    expect(body.error.message).toContain('Authorization: Bearer <key>');
  }
});

test(
  'every operation with a scope refuses a key that has all the others, and takes one that has it',
  proves(
    'models:read',
    'routines:read',
    'routines:write',
    'runs:read',
    'runs:write',
    'connections:read',
    'connections:write',
  ),
  async ({ ada }) => {
    const scoped = routes.filter(({ spec }) => spec.scope !== undefined);
    const without = new Map(
      await Promise.all(
        SCOPES.map(async (scope) => [scope, await ada.key(SCOPES.filter((other) => other !== scope))] as const),
      ),
    );
    const only = new Map(await Promise.all(SCOPES.map(async (scope) => [scope, await ada.key([scope])] as const)));
    for (const { spec } of scoped.filter(({ spec }) => spec.auth === 'key-or-session')) {
      const refused = await without.get(spec.scope!)!.send(spec.method, pathFor(spec));
      expect([spec.id, refused.status, refused.body.error.code]).toEqual([spec.id, 403, 'insufficient_scope']);
      const taken = await only.get(spec.scope!)!.send(spec.method, pathFor(spec));
      const isRefused = taken.status === 401 || taken.body?.error?.code === 'insufficient_scope';
      expect([spec.id, isRefused]).toEqual([spec.id, false]);
    }
  },
);

test('every operation but the public ones needs a credential', async ({ service }) => {
  for (const { spec } of routes.filter(({ spec }) => spec.auth.endsWith('session'))) {
    const answer = await service.anonymous.send(spec.method, pathFor(spec));
    expect([spec.id, answer.status, answer.body.error.code]).toEqual([spec.id, 401, 'authentication_required']);
  }
});

test('the use of a key is noted, at most once a minute', async ({ service, ada }) => {
  const { data } = await ada.session.post('/v1/api-keys', { name: 'used' });
  const key = service.anonymous.with({ Authorization: `Bearer ${data.key}` });
  const usedAt = async () => {
    const listed = await ada.session.get('/v1/api-keys');
    return listed.data.find((shown: { id: string }) => shown.id === data.id).lastUsedAt;
  };
  await key.get('/v1/runs');
  await expect.poll(usedAt).not.toBeNull();
  const first = await usedAt();
  await key.get('/v1/runs');
  expect(await usedAt()).toBe(first);
  await changeKeys(service.deps.database, data.id, { lastUsedAt: ago('61 seconds') });
  await key.get('/v1/runs');
  await expect.poll(usedAt).not.toBe(first);
});

test('a key remains when the person who made it goes', async ({ service }) => {
  const person = await signUp(service);
  const key = await person.key();
  await removePeople(service.deps.database, person.userId);
  expect((await key.get('/v1/routines')).status).toBe(200);
  const [left] = await service.deps.database
    .rows`select created_by from api_keys where project_id = ${person.projectId}`;
  expect(left).toEqual({ created_by: null });
});
