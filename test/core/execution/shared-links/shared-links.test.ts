import { expect } from 'vitest';
import type { ApiClient } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { ago, changeRuns, changeSharedLinks } from '#test/support/given.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';
import type { Service } from '#test/support/service.ts';
import type { Person } from '#test/support/people.ts';
import { retain } from '#test/core/execution/retention/planted-runs.ts';

const test = serviceTest({ worker: true });

const SCHEMA = {
  type: 'object',
  description: 'Told to the model only.',
  required: ['items'],
  properties: {
    items: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          id: { type: 'string', title: 'Tea', description: 'Never from memory.' },
          description: { type: 'string', title: 'About it' },
        },
      },
    },
  },
};

/** Makes a result in the person's project, which allows links. */
async function shareable({ session, projectId }: Person, key: ApiClient) {
  await session.patch(`/v1/projects/${projectId}`, { sharedLinksEnabled: true });
  const routineId = await createRoutine(key, {
    name: 'Teas',
    instructions: 'List the secret teas.\nDATA {"items": [{"id": "oolong", "description": "dark"}]}',
    resultSchema: SCHEMA,
  });
  const run = await runOnce(key, routineId);
  return { path: `/v1/runs/${run.id}/links`, run };
}

/** Reads a shared result like a visitor's browser. */
function opened({ anonymous, config }: Service, url: string, address = '198.51.100.9') {
  const visitor = anonymous.with({ Origin: config.UI_ORIGIN, 'X-Forwarded-For': address });
  return visitor.post('/public/shared-results', { token: url.split('#')[1] });
}

async function shown(service: Service, url: string) {
  const { status, body } = await opened(service, url);
  return status === 200 ? 'shown' : [status, body.error.code, body.error.message];
}

const NOTHING = [404, 'link_not_found', 'This link shows no result.'];

test('a link shows the result and its data to everyone, and nothing else of the run; views are counted', async ({
  service,
  ada,
  key,
}) => {
  const { path, run } = await shareable(ada, key);
  const { status, data: link } = await key.post(path);
  expect(status).toBe(201);
  expect(link.url).toMatch(new RegExp(`^${service.config.UI_ORIGIN}/shared#[\\w-]{43}$`));
  expect((Date.parse(link.expiresAt) - Date.parse(link.createdAt)) / 86_400_000).toBeCloseTo(7, 3);
  const { data: result, text, headers } = await opened(service, link.url);
  expect(result).toMatchObject({
    routineName: 'Teas',
    state: 'succeeded',
    result: run.result,
    data: { items: [{ id: 'oolong', description: 'dark' }] },
    expiresAt: link.expiresAt,
  });
  expect(headers.get('set-cookie')).toBeNull();
  expect(Object.keys(result).toSorted()).toEqual(
    [
      'routineName',
      'state',
      'outcome',
      'outcomeSummary',
      'result',
      'data',
      'resultSchema',
      'finishedAt',
      'expiresAt',
    ].toSorted(),
  );
  for (const kept of ['secret teas', 'Told to the model', 'Never from memory', run.id, ada.projectId, 'usage']) {
    expect(text).not.toContain(kept);
  }
  expect(result.resultSchema.properties.items.items.properties.description).toEqual({
    type: 'string',
    title: 'About it',
  });
  await opened(service, link.url);
  const { data: links } = await key.get(path);
  expect(links).toMatchObject([{ id: link.id, views: 2, createdBy: { kind: 'key' } }]);
  expect(links[0].lastSeenAt).not.toBeNull();
  expect(links[0]).not.toHaveProperty('url');

  expect((await key.delete(`${path}/${link.id}`)).data).toMatchObject({ id: link.id, views: 2 });
  expect(await shown(service, link.url)).toEqual(NOTHING);
  expect((await key.get(path)).data).toEqual([]);
  expect((await key.delete(`${path}/${link.id}`)).body.error.code).toBe('link_not_found');
  const { data: events } = await ada.session.get(
    `/v1/audit-events?organizationId=${ada.organizationId}&targetId=${link.id}`,
  );
  expect(events.map(({ action }: { action: string }) => action)).toEqual(['result.unshared', 'result.shared']);
});

test('a guessed link, an expired one, and one of an erased or deleted run show the same nothing', async ({
  service,
  ada,
  key,
}) => {
  const { database } = service.deps;
  const { path, run } = await shareable(ada, key);
  const { data: expired } = await key.post(path, { expiresInDays: 1 });
  await changeSharedLinks(database, expired.id, { expiresAt: ago('1 second') });
  expect((await key.get(path)).data).toEqual([]);
  const { data: link } = await key.post(path, { expiresInDays: 90 });
  const { url } = link;
  const last = url.at(-1) === 'A' ? 'B' : 'A';
  for (const other of [expired.url, `${url.slice(0, -1)}${last}`, 'x#', `x#${link.id}`]) {
    expect([other, await shown(service, other)]).toEqual([other, NOTHING]);
  }
  expect(await shown(service, url)).toBe('shown');
  await changeRuns(database, run.id, { finishedAt: ago('100 days') });
  await retain(database);
  expect(await shown(service, url)).toEqual(NOTHING);
  expect((await key.post(path)).body.error.code).toBe('content_erased');
  await changeRuns(database, run.id, { finishedAt: ago('500 days') });
  await retain(database);
  expect((await key.get(path)).body.error.code).toBe('run_not_found');
  expect(await shown(service, url)).toEqual(NOTHING);
});

test('links need a project that allows them, and all end once it does not, also when it does again', async ({
  service,
  bob,
  bobsKey,
}) => {
  const run = await runOnce(bobsKey, await createRoutine(bobsKey));
  const path = `/v1/runs/${run.id}/links`;
  expect((await bobsKey.post(path)).body.error.code).toBe('sharing_disabled');
  const allow = (sharedLinksEnabled: boolean) =>
    bob.session.patch(`/v1/projects/${bob.projectId}`, { sharedLinksEnabled });
  await allow(true);
  const { data: link } = await bobsKey.post(path);
  // A change of another setting keeps the links.
  await bob.session.patch(`/v1/projects/${bob.projectId}`, { name: 'Teas' });
  expect(await shown(service, link.url)).toBe('shown');
  expect((await allow(false)).data.sharedLinksEnabled).toBe(false);
  expect(await shown(service, link.url)).toEqual(NOTHING);
  await allow(true);
  expect(await shown(service, link.url)).toEqual(NOTHING);
  expect((await bobsKey.get(path)).data).toEqual([]);
  const { data: events } = await bob.session.get(
    `/v1/audit-events?organizationId=${bob.organizationId}&action=sharing.switched`,
  );
  expect(events.map(({ details }: { details: unknown }) => details)).toEqual([
    { enabled: true },
    { enabled: false },
    { enabled: true },
  ]);
});

test('a key that only reads makes and ends no link, and another project sees none', async ({
  service,
  ada,
  key,
  bobsKey,
}) => {
  const { path } = await shareable(ada, key);
  const reads = await ada.key(['runs:read']);
  const { data: link } = await key.post(path);
  expect((await reads.get(path)).data).toMatchObject([{ id: link.id }]);
  for (const refused of [await reads.post(path), await reads.delete(`${path}/${link.id}`)]) {
    expect(refused.body.error.code).toBe('insufficient_scope');
  }
  for (const foreign of [await bobsKey.get(path), await bobsKey.post(path)]) {
    expect(foreign.body.error.code).toMatch(/^(run_not_found|sharing_disabled)$/);
  }
  expect((await bobsKey.delete(`${path}/${link.id}`)).body.error.code).toBe('link_not_found');
  expect(await shown(service, link.url)).toBe('shown');
  for (const expiresInDays of [0, 91, 1.5, '7']) {
    expect([expiresInDays, (await key.post(path, { expiresInDays })).status]).toEqual([expiresInDays, 400]);
  }
  const again = key.with({ 'Idempotency-Key': `share-${link.id}` });
  const [first, repeated] = [await again.post(path), await again.post(path)];
  expect([repeated.data.id, repeated.data.url]).toEqual([first.data.id, null]);
});

test('one network opens links so often, and others go on', async ({ service, ada, key }) => {
  const { path } = await shareable(ada, key);
  const { data: link } = await key.post(path);
  const statuses = [];
  for (let nth = 0; nth <= 60; nth++) {
    statuses.push((await opened(service, nth === 60 ? link.url : 'x#guess', `203.0.113.${nth}`)).status);
  }
  expect(statuses).toEqual([...Array<number>(60).fill(404), 429]);
  expect((await opened(service, link.url, '192.0.2.1')).status).toBe(200);
});
