import { expect } from 'vitest';
import { ApiClient } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { createRoutine } from '#test/support/routines.ts';
import { plantEndedRuns, remainsOf, retain } from './planted-runs.ts';
import { changeRuns, giveRole } from '#test/support/given.ts';

const test = serviceTest({ own: true });

test('a project may choose to keep runs for less, and not for more than the service', async ({ ada }) => {
  const path = `/v1/projects/${ada.projectId}`;
  const patch = async (body: object) => {
    const { status, data, body: envelope } = await ada.session.patch(path, body);
    return status === 200 ? [data.runContentDays, data.runDays] : envelope.error.message;
  };
  expect((await ada.session.get(path)).data).toMatchObject({ runContentDays: 100, runDays: 400 });
  expect(await patch({ runContentDays: 7 })).toEqual([7, 400]);
  expect(await patch({ name: 'Ours' })).toEqual([7, 400]);
  expect(await patch({ runDays: 30 })).toEqual([7, 30]);
  expect(await patch({ runContentDays: null })).toEqual([30, 30]);
  expect(await patch({ runDays: null })).toEqual([100, 400]);
  expect(await patch({ runContentDays: 101 })).toContain('runContentDays: at most 100');
  expect(await patch({ runDays: 401 })).toContain('runDays: at most 400');
  for (const days of [0, -1, 1.5, '7']) {
    expect(await patch({ runDays: days })).toContain('runDays');
  }
  expect((await ada.session.get(path)).data).toMatchObject({ runContentDays: 100, runDays: 400 });
});

test('a replica whose operator keeps less shows and applies the less', async ({ service, ada }) => {
  const path = `/v1/projects/${ada.projectId}`;
  await ada.session.patch(path, { runContentDays: 80, runDays: 300 });
  const stricter = await service.replica({ RUN_CONTENT_DAYS: '20', RUN_DAYS: '10' });
  try {
    const { headers } = ada.session;
    const { data } = await new ApiClient(stricter.url, headers).get(path);
    expect(data).toMatchObject({ runContentDays: 10, runDays: 10 });
  } finally {
    await stricter.close();
    await ada.session.patch(path, { runContentDays: null, runDays: null });
  }
});

test('only owners and admins choose, and only for their own projects', async ({ service, ada, bob, key }) => {
  const path = `/v1/projects/${ada.projectId}`;
  expect((await bob.session.patch(path, { runDays: 1 })).status).toBe(404);
  expect((await key.patch(path, { runDays: 1 })).status).toBe(403);
  await giveRole(service.deps.database, ada.organizationId, bob.userId, 'member');
  expect((await bob.session.patch(path, { runDays: 1 })).body.error.code).toBe('forbidden');
  expect((await ada.session.get(path)).data.runDays).toBe(400);
});

test("a project's choice is applied to its own runs and to no others", async ({ service, ada, bob, key, bobsKey }) => {
  const { database } = service.deps;
  const planted = async (client: typeof key, { organizationId, projectId }: typeof ada) => {
    const routine = { id: await createRoutine(client), organizationId, projectId };
    for (const daysAgo of [6, 8, 31]) await plantEndedRuns(database, routine, { daysAgo });
  };
  await planted(key, ada);
  await planted(bobsKey, bob);
  await ada.session.patch(`/v1/projects/${ada.projectId}`, { runContentDays: 7, runDays: 30 });
  expect(await retain(database)).toEqual({ erased: 2, deleted: 1 });
  expect(await remainsOf(database, ada.projectId)).toMatchObject({
    runs: 2,
    unerased: 1,
    steps: 2,
    texts: 2,
    ledger: 3,
  });
  expect(await remainsOf(database, bob.projectId)).toMatchObject({ runs: 3, unerased: 3 });
});

test('a pinned run is kept with its content, until it is unpinned', async ({ service, ada, key, bobsKey }) => {
  const { database } = service.deps;
  const { organizationId, projectId } = ada;
  const routine = { id: await createRoutine(key), organizationId, projectId };
  const [id = ''] = await plantEndedRuns(database, routine, { daysAgo: 500 });
  const path = `/v1/runs/${id}`;
  expect((await bobsKey.patch(path, { pinned: true })).status).toBe(404);
  const readOnly = await ada.key(['runs:read']);
  expect((await readOnly.patch(path, { pinned: true })).body.error.code).toBe('insufficient_scope');
  expect((await key.patch(path, {})).status).toBe(400);
  expect((await key.patch(path, { pinned: true, state: 'queued' })).status).toBe(400);

  const pinned = await key.patch(path, { pinned: true });
  expect([pinned.status, pinned.data.pinned, pinned.data.result]).toEqual([200, true, 'a result']);
  expect(await retain(database)).toEqual({ erased: 0, deleted: 0 });
  expect((await key.get(path)).data).toMatchObject({
    pinned: true,
    contentErasedAt: null,
    prompt: 'a prompt',
  });
  expect((await key.patch(path, { pinned: false })).data.pinned).toBe(false);
  expect(await retain(database)).toEqual({ erased: 1, deleted: 1 });
  expect((await key.get(path)).status).toBe(404);
});

test('the pinned runs of a project are limited, also for those who pin at the same time', async ({
  service,
  ada,
  key,
}) => {
  const { database } = service.deps;
  const { organizationId, projectId } = ada;
  const routine = { id: await createRoutine(key), organizationId, projectId };
  const ids = await plantEndedRuns(database, routine, { daysAgo: 1, count: 1_005 });
  await changeRuns(database, ids.slice(0, 997), { pinned: true });
  const responses = await Promise.all(ids.slice(997).map((id) => key.patch(`/v1/runs/${id}`, { pinned: true })));
  const refused = responses.filter(({ status }) => status !== 200);
  expect(refused.map(({ body }) => body.error.code)).toEqual(Array.from({ length: 5 }, () => 'allowance_exceeded'));
  expect((await key.patch(`/v1/runs/${ids[0]}`, { pinned: true })).status).toBe(200);
  await key.patch(`/v1/runs/${ids[0]}`, { pinned: false });
  expect((await key.patch(`/v1/runs/${ids[0]}`, { pinned: true })).status).toBe(200);
});
