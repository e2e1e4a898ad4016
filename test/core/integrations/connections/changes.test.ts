import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { readConnection } from '#core/integrations/connections/index.ts';
import { freePort } from '#dev/stack/ports.ts';
import { newId } from '#lib/ids.ts';
import { signUp } from '#test/support/people.ts';
import { runOnce } from '#test/support/routines.ts';
import { startHostileFixture, type HostileFixture } from '#test/core/integrations/tools/hostile-fixture.ts';
import {
  connect,
  marker,
  routineWith,
  scriptCalls,
  toolSteps,
  type Json,
} from '#test/core/integrations/tools/support.ts';
import { changeConnections, plantConnection } from '#test/support/given.ts';

let fixture: HostileFixture;
let { service, hostile, person, key } = {} as HostileFixture;

beforeAll(async () => {
  fixture = await startHostileFixture();
  ({ service, hostile, person, key } = fixture);
});
beforeEach(() => {
  hostile.control.reset();
  hostile.control.credential = 'first-credential';
});
afterAll(() => fixture?.close());

function path(connectionId: string) {
  return `/v1/connections/${connectionId}`;
}
function connectGuarded() {
  return connect(key, { url: hostile.url('guarded'), bearerToken: 'first-credential' });
}

async function shown(connectionId: string): Promise<Json> {
  const { data } = await key.get('/v1/connections');
  return data.find(({ id }: Json) => id === connectionId);
}

test('new credentials make a connection ready again that the server had stopped taking, and its policies stay', async () => {
  const mark = marker();
  const { routineId, connectionId } = await routineWith(key, ['lookup'], {
    connection: { url: hostile.url('guarded'), bearerToken: 'first-credential' },
    routine: { instructions: mark },
  });
  const lookUp = () => scriptCalls(service, mark, { name: 'lookup', arguments: { query: 'x' } });
  lookUp();
  expect(toolSteps(await runOnce(key, routineId))[0].state).toBe('succeeded');
  await key.post(`/v1/routines/${routineId}/activate`);
  const policies = (await key.get(`/v1/routines/${routineId}/tools`)).data;

  hostile.control.credential = 'second-credential';
  const discover = `/v1/routines/${routineId}/connections/${connectionId}/discover`;
  expect((await key.post(discover)).body.error.code).toBe('connection_not_ready');
  expect((await runOnce(key, routineId)).reason).toBe('blocked_connection');

  const changed = await key.patch(path(connectionId), { bearerToken: 'second-credential' });
  expect(changed.status).toBe(200);
  expect(changed.data).toMatchObject({
    id: connectionId,
    auth: 'bearer',
    state: 'ready',
    error: null,
  });
  expect(JSON.stringify(changed.body)).not.toContain('second-credential');
  expect((await key.get(`/v1/routines/${routineId}/tools`)).data).toEqual(policies);
  expect((await key.get(`/v1/routines/${routineId}`)).data.state).toBe('active');
  lookUp();
  expect(toolSteps(await runOnce(key, routineId))[0].state).toBe('succeeded');
  expect(hostile.control.calls.at(-1)!.headers.authorization).toBe('Bearer second-credential');
});

test('credentials that the server does not take change nothing', async () => {
  const connectionId = await connectGuarded();
  const before = await shown(connectionId);
  for (const [fields, field] of [
    [{ bearerToken: 'wrong' }, 'bearerToken'],
    [{ headers: { 'X-Api-Key': 'wrong' } }, 'headers'],
  ] as const) {
    const { status, body } = await key.patch(path(connectionId), { name: 'Other', ...fields });
    expect([status, body.error.message]).toEqual([400, `${field}: the server does not accept it`]);
  }
  expect(await shown(connectionId)).toEqual(before);
});

test('a server that cannot be reached changes nothing', async () => {
  const connectionId = await connectGuarded();
  const nowhere = `http://127.0.0.1:${await freePort()}/mcp`;
  await changeConnections(service.deps.database, connectionId, { url: nowhere });
  const before = await shown(connectionId);
  const { status, body } = await key.patch(path(connectionId), { bearerToken: 'second' });
  expect([status, body.error.code]).toEqual([502, 'provider_error']);
  expect(await shown(connectionId)).toEqual(before);
});

test('one kind of credentials takes the place of another', async () => {
  const connectionId = await connectGuarded();
  const routineId = (await routineWith(key, [], { connection: { url: hostile.url('honest') } })).routineId;
  const headers = { 'X-Api-Key': 'first-credential' };
  const changed = await key.patch(path(connectionId), { headers });
  expect(changed.data).toMatchObject({ auth: 'headers', state: 'ready' });
  const discover = `/v1/routines/${routineId}/connections/${connectionId}/discover`;
  expect((await key.post(discover)).status).toBe(200);
});

test('a key in the query of the address is replaced with the address, which has to be the same otherwise', async () => {
  const connectionId = await connect(key, {
    url: `${hostile.url('guarded')}?api_key=first-credential`,
  });
  hostile.control.credential = 'second-credential';
  const patch = (url: string) => key.patch(path(connectionId), { url });
  const told = async (url: string) => (await patch(url)).body.error.message;
  expect(await told(`${hostile.url('guarded')}?api_key=wrong`)).toBe('url: the server does not accept it');
  expect(await told(`${hostile.url('honest')}?api_key=x`)).toContain('only the query');
  expect(await told((await shown(connectionId)).url)).toContain('[redacted]');
  expect(await told('nonsense')).toMatch(/^url: /);
  const changed = await patch(`${hostile.url('guarded')}?api_key=second-credential`);
  expect(changed.data).toMatchObject({ auth: 'none', url: (await shown(connectionId)).url });
  const again = await key.patch(path(connectionId), { bearerToken: 'beside-the-query' });
  expect(again.data).toMatchObject({ auth: 'bearer', state: 'ready' });
});

test('a name is changed without asking the server', async () => {
  const connectionId = await connectGuarded();
  hostile.control.seen.length = 0;
  const { data } = await key.patch(path(connectionId), { name: '  New name ' });
  expect(data.name).toBe('New name');
  expect((await key.patch(path(connectionId), {})).data).toEqual(data);
  expect(hostile.control.seen).toEqual([]);
});

test('a connection with credentials from a provider takes another name, and no credentials', async () => {
  const connectionId = newId('connection');
  const url = hostile.url('honest');
  await plantConnection(service, person.projectId, { id: connectionId, url });
  const refused = await key.patch(path(connectionId), { bearerToken: 'token' });
  expect([refused.status, refused.body.error.message]).toEqual([
    400,
    'bearerToken: the provider issued the credentials of this connection; sign in again with connectionId',
  ]);
  expect((await key.patch(path(connectionId), { name: 'Other' })).data.name).toBe('Other');
  expect(hostile.control.seen).toEqual([]);
});

test('what cannot be credentials is refused', async () => {
  const connectionId = await connectGuarded();
  for (const body of [
    { headers: {} },
    { headers: { Host: 'x' } },
    { bearerToken: '' },
    { bearerToken: 'a', headers: { Authorization: 'b' } },
    { auth: 'none' },
    { name: '' },
  ]) {
    const { status } = await key.patch(path(connectionId), body);
    expect([body, status]).toEqual([body, 400]);
  }
});

test('a connection of another project cannot be changed', async () => {
  const connectionId = await connectGuarded();
  const other = await (await signUp(service)).key();
  const { status, body } = await other.patch(path(connectionId), { name: 'Mine' });
  expect([status, body.error.code]).toEqual([404, 'connection_not_found']);
  const reader = await person.key(['connections:read']);
  expect((await reader.patch(path(connectionId), { name: 'Mine' })).status).toBe(403);
});

test('a refusal of the old credentials that comes late does not tell against the new ones', async () => {
  const connectionId = await connectGuarded();
  const { database, credentials } = service.deps;
  const before = await readConnection(database, person.projectId, connectionId);
  hostile.control.credential = 'second-credential';
  await key.patch(path(connectionId), { bearerToken: 'second-credential' });
  await credentials.refused(before, {}, new AbortController().signal);
  expect((await shown(connectionId)).state).toBe('ready');
  const after = await readConnection(database, person.projectId, connectionId);
  await credentials.refused(after, {}, new AbortController().signal);
  expect((await shown(connectionId)).state).toBe('needs_reauthorization');
});
