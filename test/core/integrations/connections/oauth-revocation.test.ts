import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { deleteConnection } from '#core/upkeep/deletion/index.ts';
import {
  startProtectedToolServer,
  type ProtectedToolServer,
} from '#dev/fakes/authorization-server/protected-tool-server.ts';
import { signUp, type Person } from '#test/support/people.ts';
import { startEverythingServer, type EverythingServer } from '#test/core/integrations/tools/everything-server.ts';
import {
  API_KEY,
  CLIENT_SECRET,
  signIn,
  startSignInFixture,
  storedGrant,
  type SignInFixture,
} from './sign-in-fixture.ts';
import { changeConnections } from '#test/support/given.ts';

let fixture: SignInFixture;
let everything: EverythingServer;
let toolServer: ProtectedToolServer;
let person: Person;

beforeAll(async () => {
  [fixture, everything] = await Promise.all([startSignInFixture(), startEverythingServer()]);
  const { authorizationServer } = fixture;
  const upstream = everything.url;
  toolServer = await startProtectedToolServer({ port: 0, authorizationServer, upstream });
  person = await signUp(fixture.service);
});
afterAll(async () => {
  await fixture?.close();
  await toolServer?.stop();
  await everything?.stop();
});
beforeEach(() => {
  control().revocationRequests.length = 0;
  control().revocationFaults.length = 0;
});

function control() {
  return fixture.authorizationServer.control;
}
async function isLive(token: string) {
  return (await fixture.authorizationServer.accessToken(token)) !== undefined;
}
function remove(id: string) {
  return person.session.delete(`/v1/connections/${id}`);
}
function revoked(...hints: string[]) {
  return expect.poll(() => control().revocationRequests).toEqual(hints);
}

async function connected(provider = 'fixture', body: object = {}): Promise<string> {
  return (await signIn(person.session, provider, body)).data.id;
}

test('a deleted connection to a managed provider takes its tokens with it', async () => {
  const id = await connected();
  const { accessToken } = await storedGrant(fixture.service, id);
  expect(await isLive(accessToken)).toBe(true);
  expect((await remove(id)).status).toBe(200);
  await revoked('refresh_token');
  expect(await isLive(accessToken)).toBe(false);
});

test('a deleted connection to a tool server too, by what the metadata said, as the client of that sign-in', async () => {
  const id = await connected('tool-server', { url: toolServer.url });
  const { accessToken } = await storedGrant(fixture.service, id);
  await remove(id);
  await revoked('refresh_token');
  expect(await isLive(accessToken)).toBe(false);
});

test('without a refresh token it is the access token', async () => {
  const id = await connected();
  const { deps } = fixture.service;
  const grant = await storedGrant(fixture.service, id);
  const sealed = deps.connectionSecrets.seal(id, { ...grant, refreshToken: null });
  await changeConnections(deps.database, id, { credentials: sealed });
  await remove(id);
  await revoked('access_token');
  expect(await isLive(grant.accessToken)).toBe(false);
});

test('a sign-in that cannot be used any more is revoked all the same', async () => {
  const id = await connected();
  await changeConnections(fixture.service.deps.database, id, {
    state: 'needs_reauthorization',
    publicError: 'scopes_missing',
  });
  await remove(id);
  await revoked('refresh_token');
});

test('a provider that refuses, or never responds, holds nothing up', async () => {
  for (const fault of [503, 400, 302, 'hang'] as const) {
    control().revocationFaults.push(fault);
    const id = await connected();
    expect((await remove(id)).status).toBe(200);
    expect((await remove(id)).body.error.code).toBe('connection_not_found');
  }
  await revoked('faulty', 'faulty', 'faulty', 'faulty');
});

test('what is not there is not revoked: a key, and a connection of another project', async () => {
  const { data } = await person.session.post('/v1/connections/api-key/fixture-key', {
    apiKey: API_KEY,
  });
  expect((await remove(data.id)).status).toBe(200);
  const id = await connected();
  const other = await signUp(fixture.service);
  expect((await other.session.delete(`/v1/connections/${id}`)).status).toBe(404);
  const { accessToken } = await storedGrant(fixture.service, id);
  await remove(id);
  await revoked('refresh_token');
  expect(await isLive(accessToken)).toBe(false);
});

test('the log says what came of it, and no secret', async () => {
  const lines: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
  const deps = { ...fixture.service.deps, log };
  const secrets = [CLIENT_SECRET];
  const said = async (id: string) => {
    const { accessToken, refreshToken } = await storedGrant(fixture.service, id);
    secrets.push(accessToken, refreshToken);
    lines.length = 0;
    await deleteConnection(deps, person.projectId, id, {
      kind: 'person',
      id: person.userId,
      address: null,
    });
    await expect.poll(() => lines).toHaveLength(1);
    for (const secret of secrets) expect(lines[0]).not.toContain(secret);
    return JSON.parse(lines[0]!) as object;
  };
  const id = await connected();
  expect(await said(id)).toMatchObject({ connectionId: id, msg: 'a sign-in was revoked' });
  control().revocationFaults.push(500);
  const failed = { msg: 'a sign-in was not revoked', detail: 'status 500' };
  expect(await said(await connected())).toMatchObject(failed);
});
