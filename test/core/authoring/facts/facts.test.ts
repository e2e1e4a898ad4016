import { expect } from 'vitest';
import type { Answer, ApiClient } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { signUp, type Person } from '#test/support/people.ts';

const test = serviceTest();

/** Signs up a person, whose project has no facts. */
async function projectOf(service: Parameters<typeof signUp>[0]) {
  const person = await signUp(service);
  return { person, key: await person.key(), path: pathOf(person) };
}

function pathOf({ projectId }: Pick<Person, 'projectId'>): string {
  return `/v1/projects/${projectId}/facts`;
}

function write(client: ApiClient, path: string, text: string, ifMatch?: string): Promise<Answer> {
  return client.with(ifMatch === undefined ? {} : { 'If-Match': ifMatch }).put(path, { text });
}

function codeOf({ status, body }: Answer): [number, unknown] {
  return [status, body.error?.code];
}

test('a project has no facts until someone writes them, and then each change is a version', async ({ service }) => {
  const { person, key, path } = await projectOf(service);
  const none = await key.get(path);
  expect(none.data).toEqual({ version: 0, text: '', createdBy: null, createdAt: null });
  expect(none.headers.get('etag')).toBe('"0"');
  expect((await key.get(`${path}/versions`)).data).toEqual([]);

  const first = await write(person.session, path, 'Brand: Acme\nMargin: 62 %');
  expect([first.status, first.headers.get('etag')]).toEqual([200, '"1"']);
  expect(first.data).toMatchObject({
    version: 1,
    createdBy: { kind: 'person', id: person.userId, name: 'Test Person' },
  });
  const second = await write(key, path, 'Brand: Acme\nMargin: 58 %\nMarkets: DE');
  expect(second.data).toMatchObject({ version: 2, createdBy: { kind: 'key', name: 'test' } });
  expect((await key.get(path)).data).toEqual(second.data);

  expect((await key.get(`${path}/versions`)).data).toMatchObject([
    {
      version: 2,
      length: 36,
      changes: {
        counts: { added: 2, removed: 1 },
        added: ['Margin: 58 %', 'Markets: DE'],
        removed: ['Margin: 62 %'],
      },
    },
    { version: 1, changes: { counts: { added: 2, removed: 0 }, removed: [] } },
  ]);
  expect((await key.get(`${path}/versions/1`)).data).toMatchObject({
    text: 'Brand: Acme\nMargin: 62 %',
    before: null,
  });
  expect((await key.get(`${path}/versions/2`)).data.before).toBe('Brand: Acme\nMargin: 62 %');
  for (const version of ['3', '0', 'x', '01']) {
    expect(codeOf(await key.get(`${path}/versions/${version}`))).toEqual([404, 'facts_version_not_found']);
  }
});

test('versions are listed page by page', async ({ service }) => {
  const { key, path } = await projectOf(service);
  for (const text of ['a', 'b', 'c']) await write(key, path, text);
  const page = await key.get(`${path}/versions?limit=2`);
  expect(page.data.map(({ version }: { version: number }) => version)).toEqual([3, 2]);
  const next = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1] ?? '';
  const rest = await key.get(next.replace(service.url, ''));
  expect(rest.data.map(({ version }: { version: number }) => version)).toEqual([1]);
});

test('the same text makes no version and no entry in the audit log', async ({ service }) => {
  const { person, key, path } = await projectOf(service);
  await write(key, path, 'Brand: Acme\nBrand: Acme Cloud');
  expect((await write(key, path, 'Brand: Acme\nBrand: Acme Cloud')).data.version).toBe(1);
  await write(key, path, '');
  expect((await write(key, path, '')).data).toMatchObject({ version: 2, text: '' });
  const { data } = await person.session.get(
    `/v1/audit-events?organizationId=${person.organizationId}&targetId=${person.projectId}&action=facts.changed`,
  );
  expect(data.map(({ details }: { details: unknown }) => details)).toEqual([
    { version: 2, added: 0, removed: 2 },
    { version: 1, added: 2, removed: 0 },
  ]);
});

test('a text is kept as it is given, up to 24,000 characters', async ({ service }) => {
  const { key, path } = await projectOf(service);
  const text = `  Grüße \u{1F600} \u200B\r\n\ttabs \n\n`;
  expect((await write(key, path, text)).data.text).toBe(text);
  expect((await key.get(`${path}/versions/1`)).data).toMatchObject({ text, length: 21 });
  expect((await write(key, path, 'x'.repeat(24_000))).data.version).toBe(2);
  expect((await write(key, path, '\u{1F600}'.repeat(24_000))).data.version).toBe(3);
  expect((await key.get(`${path}/versions/3`)).data.length).toBe(24_000);
  for (const refused of ['x'.repeat(24_001), '\u{1F600}'.repeat(24_001), 'a\0b', 'a\ud800b']) {
    expect(codeOf(await write(key, path, refused))).toEqual([400, 'invalid_request']);
  }
  expect(codeOf(await key.put(path, {}))).toEqual([400, 'invalid_request']);
  expect(codeOf(await key.put(path, { text: 'a', version: 3 }))).toEqual([400, 'invalid_request']);
  expect((await key.get(path)).data.version).toBe(3);
});

test('of those who write at the same time over the same version, one does', async ({ service }) => {
  const { key, path } = await projectOf(service);
  const race = (ifMatch: string) =>
    Promise.all(Array.from({ length: 12 }, (_, at) => write(key, path, `Text ${at}`, ifMatch)));
  const statuses = (answers: Answer[]) => answers.map(({ status }) => status).toSorted((a, b) => a - b);
  expect(statuses(await race('"0"'))).toEqual([200, ...Array<number>(11).fill(412)]);
  const second = await race('"1"');
  // A write of the present text changes nothing, and is no conflict.
  const others = second.filter(({ status }) => status === 412);
  expect(others.length).toBeGreaterThanOrEqual(10);
  expect(codeOf(others[0]!)).toEqual([412, 'precondition_failed']);
  expect(codeOf(await write(key, path, 'Text', '"1"'))).toEqual([412, 'precondition_failed']);
  expect(codeOf(await write(key, path, 'Text', 'W/"2"'))).toEqual([412, 'precondition_failed']);
  expect((await write(key, path, 'Any', '*')).status).toBe(200);
  const versions = (await key.get(`${path}/versions`)).data;
  expect(versions.map(({ version }: { version: number }) => version)).toEqual([3, 2, 1]);
});

test('those who write without naming a version all do, one after another', async ({ service }) => {
  const { key, path } = await projectOf(service);
  const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => write(key, path, `Text ${at}`)));
  const versions = answers.map(({ data }) => data.version).toSorted((a, b) => a - b);
  expect(versions).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
});

test('another project’s facts are not there, and a scope decides who writes', async ({ service }) => {
  const [ada, bob] = [await projectOf(service), await projectOf(service)];
  await write(ada.key, ada.path, 'Margin: 62 %');
  for (const client of [bob.key, bob.person.session]) {
    for (const path of [ada.path, `${ada.path}/versions`, `${ada.path}/versions/1`]) {
      expect(codeOf(await client.get(path))).toEqual([404, 'project_not_found']);
    }
    expect(codeOf(await write(client, ada.path, 'Theirs'))).toEqual([404, 'project_not_found']);
  }
  expect(codeOf(await service.anonymous.get(ada.path))).toEqual([401, 'authentication_required']);
  const reader = await ada.person.key(['routines:read']);
  expect((await reader.get(ada.path)).data.text).toBe('Margin: 62 %');
  expect(codeOf(await write(reader, ada.path, 'Mine'))).toEqual([403, 'insufficient_scope']);
  const runner = await ada.person.key(['runs:read']);
  expect(codeOf(await runner.get(ada.path))).toEqual([403, 'insufficient_scope']);
  expect((await ada.key.get(ada.path)).data.version).toBe(1);
});

test('of a deleted project there is nothing to read or write', async ({ service }) => {
  const { person, key, path } = await projectOf(service);
  await write(key, path, 'Margin: 62 %');
  await person.session.post('/v1/projects', {
    name: 'Another',
    organizationId: person.organizationId,
  });
  const session = person.session.with({ 'X-Project-Id': person.projectId });
  const deleted = await session.delete(`/v1/projects/${person.projectId}?confirm=Default`);
  expect(deleted.status).toBe(200);
  expect(codeOf(await session.get(path))).toEqual([404, 'project_not_found']);
  expect(codeOf(await write(session, path, 'Again'))).toEqual([404, 'project_not_found']);
  expect(codeOf(await key.get(path))).toEqual([401, 'invalid_api_key']);
});
