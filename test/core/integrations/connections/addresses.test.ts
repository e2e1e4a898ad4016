import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { isRedacted, splitAddress } from '#core/integrations/connections/store/credentials.ts';
import { runOnce } from '#test/support/routines.ts';
import { startHostileFixture, type HostileFixture } from '#test/core/integrations/tools/hostile-fixture.ts';
import { marker, requestsWith, routineWith, scriptCalls } from '#test/core/integrations/tools/support.ts';

test.each([
  ['https://a.example/mcp', 'https://a.example/mcp', null],
  ['https://a.example/mcp?', 'https://a.example/mcp?', ''],
  ['https://a.example/mcp?key=1', 'https://a.example/mcp?key=[redacted]', 'key=1'],
  ['https://a.example/?a=1&b=&a=3', 'https://a.example/?a=[redacted]&b=[redacted]&a=[redacted]', 'a=1&b=&a=3'],
  ['https://a.example/?k-3f8a', 'https://a.example/?[redacted]', 'k-3f8a'],
  ['https://a.example/?a=1=2?3&%zz=4', 'https://a.example/?a=[redacted]&%zz=[redacted]', 'a=1=2?3&%zz=4'],
])('%s is shown as %s', (url, shown, query) => {
  expect(splitAddress(url)).toEqual({ shown, query });
  expect(splitAddress(shown).shown).toBe(shown);
});

test('an address in its shown form is told apart from one that can be called', () => {
  expect(isRedacted('https://a.example/?key=[redacted]')).toBe(true);
  expect(isRedacted('https://a.example/?key=%5Bredacted%5D')).toBe(false);
  expect(isRedacted('https://a.example/?a=1&&[redacted]')).toBe(true);
  expect(isRedacted('https://a.example/?a=1&&b')).toBe(false);
  expect(isRedacted('https://a.example/mcp')).toBe(false);
});

let fixture: HostileFixture;
let { service, hostile, key } = {} as HostileFixture;

beforeAll(async () => {
  fixture = await startHostileFixture();
  ({ service, hostile, key } = fixture);
});
beforeEach(() => {
  hostile.control.reset();
  hostile.control.credential = SECRET;
});
afterAll(() => fixture?.close());

const SECRET = 'canary-of-the-query-8134';
function address() {
  return `${hostile.url('guarded')}?project=alpha&api_key=${SECRET}`;
}
function shown() {
  return `${hostile.url('guarded')}?project=[redacted]&api_key=[redacted]`;
}

async function stored(id: string): Promise<{ url: string; url_query: string | null }> {
  const found = await service.deps.database.query<{ url: string; url_query: string | null }>(
    'select * from connections where id = $1',
    [id],
  );
  return found.rows[0]!;
}

test('a key in the query of an address is used, stored sealed, and in no response', async () => {
  const created = await key.post('/v1/connections', { name: 'Tools', url: address() });
  expect([created.status, created.data?.url]).toEqual([201, shown()]);
  const row = await stored(created.data.id);
  expect(row.url).toBe(shown());
  expect(JSON.stringify(row)).not.toContain(SECRET);
  expect(row.url_query).toMatch(/^v1\./);
  const listed = await key.get('/v1/connections');
  const removed = await key.delete(`/v1/connections/${created.data.id}`);
  for (const { body } of [created, listed, removed]) {
    expect(JSON.stringify(body)).not.toContain(SECRET);
  }
  const [{ url }] = listed.data;
  expect(url).toBe(shown());
});

test('the tools behind such an address are called with it, and what repeats the key is redacted', async () => {
  const mark = marker();
  const { routineId } = await routineWith(key, ['lookup'], {
    connection: { url: address() },
    routine: { instructions: mark },
  });
  hostile.control.answer = ({ path }) => `you called ${path}`;
  scriptCalls(service, mark, { name: 'lookup', arguments: { query: 'x' } });
  const run = await runOnce(key, routineId);
  expect(hostile.control.calls[0]!.path).toBe(`/guarded/mcp?project=alpha&api_key=${SECRET}`);
  const result = 'you called /guarded/mcp?project=alpha&api_key=[redacted]';
  expect(run.steps[1]).toMatchObject({ state: 'succeeded', tool: { result } });
  const told = requestsWith(service, mark).at(-1).body.messages.at(-1).content;
  expect(told).toContain(result);
  expect(JSON.stringify(run)).not.toContain(SECRET);
});

test('a wrong key is refused without being repeated', async () => {
  const url = `${hostile.url('guarded')}?api_key=canary-that-is-wrong`;
  const { status, body } = await key.post('/v1/connections', { name: 'Tools', url });
  expect(status).toBe(400);
  expect(JSON.stringify(body)).not.toContain('canary');
});
