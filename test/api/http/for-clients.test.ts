import { expect } from 'vitest';
import { serviceTest } from '#test/support/fixtures.ts';
import { createRoutine, routineBody } from '#test/support/routines.ts';

const test = serviceTest();

test('a list says in its body where the next page begins, where that is asked for', async ({ key }) => {
  const { data: first } = await key.post('/v1/skills', { name: 'First', instructions: 'Write short sentences.' });
  const { data: second } = await key.post('/v1/skills', { name: 'Second', instructions: 'Write short sentences.' });
  const page = await key.get('/v1/skills?limit=1&page=body');

  expect([page.data[0].id, page.body.page]).toEqual([second.id, { nextCursor: second.id }]);
  expect(new URL(/<(.*)>/.exec(page.headers.get('link')!)![1]!).searchParams.get('page')).toBe('body');
  const next = await key.get(`/v1/skills?limit=1&page=body&cursor=${page.body.page.nextCursor}`);
  expect(next.data[0].id).toBe(first.id);
  const last = await key.get('/v1/runs?page=body');
  expect([last.data, last.body.page]).toEqual([[], { nextCursor: null }]);

  expect((await key.get('/v1/skills?limit=1')).body).not.toHaveProperty('page');
  const refused = await key.get('/v1/skills?page=2');
  expect([refused.status, refused.body.error.message]).toEqual([400, 'page: must be body, or left out']);
  const noList = await key.get(`/v1/skills/${first.id}?page=body`);
  expect([noList.status, noList.body.error.code]).toEqual([400, 'invalid_request']);
});

test('a read that has not changed is 304, and is sent once it has', async ({ key, bobsKey }) => {
  const id = await createRoutine(key);
  const { data: run } = await key.post(`/v1/routines/${id}/run`);
  for (const path of [`/v1/runs/${run.id}/steps`, '/v1/routines', '/v1/usage', '/v1/skills/seo-audit']) {
    const seen = await key.get(path);
    const tag = seen.headers.get('etag')!;
    expect(tag, path).toMatch(/^W\/"[\w-]{22}"$/);
    const again = await key.with({ 'If-None-Match': `"other", ${tag}` }).get(path);
    expect([again.status, again.text, again.headers.get('etag')], path).toEqual([304, '', tag]);
    expect(again.headers.get('x-ratelimit-remaining'), path).not.toBeNull();
  }
  const before = (await key.get(`/v1/runs/${run.id}`)).headers.get('etag')!;
  await key.post(`/v1/runs/${run.id}/cancel`);
  const after = await key.with({ 'If-None-Match': before }).get(`/v1/runs/${run.id}`);
  expect([after.status, after.data.state]).toEqual([200, 'cancelled']);

  const empty = (await bobsKey.get('/v1/runs')).headers.get('etag')!;
  expect((await key.with({ 'If-None-Match': empty }).get('/v1/runs')).status).toBe(200);
});

test('the response to a creation says where the new resource can be read', async ({ ada, key }) => {
  const created = [
    await key.post('/v1/routines', routineBody()),
    await key.post('/v1/skills', { name: 'Brevity', instructions: 'Write short sentences.' }),
    await key.post(`/v1/routines/${await createRoutine(key)}/run`),
    await ada.session.post('/v1/organizations', { name: 'Another' }),
  ];
  for (const { status, headers, data } of created) {
    expect([201, 202]).toContain(status);
    const { pathname } = new URL(headers.get('location')!);
    const read = await (pathname.startsWith('/v1/organizations') ? ada.session : key).get(pathname);
    expect([pathname, read.status, read.data.id]).toEqual([pathname, 200, data.id]);
  }
});

test('a request says when its minute is over', async ({ key }) => {
  const { headers } = await key.get('/v1/models');
  const reset = Number(headers.get('x-ratelimit-reset'));
  expect(reset).toBeGreaterThanOrEqual(1);
  expect(reset).toBeLessThanOrEqual(60);
});

test('an error names every field that is wrong, of the rule of any part of the service', async ({ key }) => {
  const caller = key.with({ Prefer: 'wait=5, error-details' });
  const detailsOf = async (body: object) => (await caller.post('/v1/routines', body)).body.error.details;
  expect(await detailsOf({ ...routineBody(), name: '', limits: { maxSteps: 'many' }, colour: 'red' })).toEqual([
    { param: 'name', message: 'must not be empty' },
    { param: 'limits.maxSteps', message: 'expected a number, got a string' },
    { param: 'colour', message: 'unknown field' },
  ]);
  expect(
    await detailsOf(routineBody({ model: { provider: 'gateway', connectionId: null, modelId: 'gpt-9' } })),
  ).toMatchObject([{ param: 'model' }]);
  expect(await detailsOf(routineBody({ webhookUrl: 'ftp://example.com' }))).toMatchObject([{ param: 'webhookUrl' }]);
  expect(await detailsOf(routineBody({ schedule: '61 * * * *' }))).toMatchObject([{ param: 'schedule' }]);
  const many = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`f${index}`, 1]));
  expect(await detailsOf({ ...routineBody(), variables: { a: 1 }, ...many })).toHaveLength(21);
  const plain = await key.post('/v1/routines', {});
  expect(Object.keys(plain.body.error)).toEqual(['code', 'message']);
  const missing = await caller.get('/v1/runs/run_01kx3k9y6wfd8r0v5m2c7t4q5d');
  expect(missing.body.error).toEqual({ code: 'run_not_found', message: 'No such run in this project.' });
});
