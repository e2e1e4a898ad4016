import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { startProtectedToolServer } from '#dev/fakes/authorization-server/protected-tool-server.ts';
import { startAuthorizationServer } from '#dev/fakes/authorization-server/server.ts';
import { freePort } from '#dev/stack/ports.ts';
import { routes } from '#api/routes.ts';
import { giveRole } from '#test/support/given.ts';
import { signUp } from '#test/support/people.ts';
import { createRoutine } from '#test/support/routines.ts';
import {
  expireIn,
  signIn as signInTo,
  startProtectedFixture,
  UI_ORIGIN,
  type ProtectedFixture,
} from './sign-in-fixture.ts';

let fixture: ProtectedFixture;
let { person, authorizationServer, toolServer, everything } = {} as ProtectedFixture;

beforeAll(async () => {
  fixture = await startProtectedFixture();
  ({ person, authorizationServer, toolServer, everything } = fixture);
});
afterAll(() => fixture.close());
beforeEach(() => {
  toolServer.bearers.length = 0;
});

/** Written out in full, because clients that registered this address would fail if it changed. */
function redirectUriAt(issuer: string): string {
  const digest = createHash('sha256').update(issuer).digest('hex').slice(0, 32);
  return `${UI_ORIGIN}/oauth/callback/tool-server-${digest}`;
}
function start(body: object) {
  return person.session.post('/v1/connections/oauth/tool-server/start', body);
}
function signIn(body: object) {
  return signInTo(person.session, 'tool-server', body);
}

test('a tool server that wants a sign-in says so, and how, when it is connected without one', async () => {
  const refused = await person.session.post('/v1/connections', {
    name: 'Protected',
    url: toolServer.url,
  });
  expect(refused.status).toBe(400);
  const { message } = refused.body.error;
  expect(message).toContain('POST /v1/connections/oauth/tool-server/start');
  const paths = routes.map(({ spec }) => `${spec.method} ${spec.path}`);
  expect(paths).toContain('POST /v1/connections/oauth/:provider/start');
});

test('the sign-in registers us, names the resource, and asks for what the server wants', async () => {
  const { data } = await start({ url: toolServer.url });
  const query = Object.fromEntries(new URL(data.authorizationUrl).searchParams);
  expect(new URL(data.authorizationUrl).origin).toBe(authorizationServer.issuer);
  expect(data.host).toBe(new URL(authorizationServer.issuer).host);
  expect(query).toMatchObject({
    code_challenge_method: 'S256',
    redirect_uri: redirectUriAt(authorizationServer.issuer),
    resource: toolServer.url,
    scope: 'tools offline_access',
  });
  expect(query['client_id']).toMatch(/.{10}/);
});

test('after the sign-in its tools are discovered with a token that was issued for it', async () => {
  const { status, data } = await signIn({ url: toolServer.url, name: 'Protected' });
  expect(status).toBe(200);
  expect(data).toMatchObject({
    kind: 'tool_server',
    provider: null,
    name: 'Protected',
    url: toolServer.url,
    auth: 'oauth',
    state: 'ready',
  });
  expect(data.server.name).toContain('everything');
  const routineId = await createRoutine(person.session);
  const discovered = await person.session.post(`/v1/routines/${routineId}/connections/${data.id}/discover`);
  expect(discovered.status).toBe(200);
  const tools = await person.session.get(`/v1/routines/${routineId}/tools`);
  expect(JSON.stringify(tools.data)).toContain('"echo"');
  expect(toolServer.bearers.length).toBeGreaterThan(2);
  expect((await person.session.get(`/v1/connections/${data.id}/accounts`)).data).toEqual([]);
});

test('its token is renewed, and a revoked sign-in is made again in the same connection', async () => {
  const { data } = await signIn({ url: toolServer.url });
  const routineId = await createRoutine(person.session);
  const discover = () => person.session.post(`/v1/routines/${routineId}/connections/${data.id}/discover`);
  const expire = () => expireIn(fixture.service, data.id, 0);
  expect(data.name).toBe('127.0.0.1');
  await expire();
  authorizationServer.control.tokenRequests.length = 0;
  expect((await discover()).status).toBe(200);
  expect(authorizationServer.control.tokenRequests).toEqual(['refresh_token']);

  await authorizationServer.control.revokeAll();
  await expire();
  expect((await discover()).body.error.code).toBe('connection_not_ready');
  const again = await signIn({ connectionId: data.id });
  expect(again.data).toMatchObject({ id: data.id, state: 'ready', error: null });
  expect((await discover()).status).toBe(200);
});

test('runs no longer act as a person who has left, also on a connection that another member made', async () => {
  const { service } = fixture;
  const grace = await signUp(service);
  const { organizationId, projectId } = person;
  await giveRole(service.deps.database, organizationId, grace.userId, 'admin');
  const inProject = grace.session.with({ 'X-Project-Id': projectId });
  const { data: mine } = await signIn({ url: toolServer.url, name: 'Of the owner' });
  const { data: theirs } = await signInTo(inProject, 'tool-server', {
    url: toolServer.url,
    name: 'Of grace',
  });
  const { data: taken } = await signIn({ url: toolServer.url, name: 'Signed in to again' });
  await signInTo(inProject, 'tool-server', { connectionId: taken.id });

  const member = `/v1/organizations/${organizationId}/members/${grace.userId}`;
  const removed = await person.session.delete(member);
  expect(removed.status).toBe(200);
  expect(removed.data.connections.map(({ name }: { name: string }) => name).toSorted()).toEqual([
    'Of grace',
    'Signed in to again',
  ]);
  const stateOf = async (id: string) => (await person.session.get(`/v1/connections/${id}`)).data;
  expect(await stateOf(mine.id)).toMatchObject({ state: 'ready' });
  for (const { id } of [theirs, taken]) {
    expect(await stateOf(id)).toMatchObject({
      state: 'needs_reauthorization',
      error: { code: 'person_left' },
    });
  }
  expect((await signIn({ connectionId: theirs.id })).data).toMatchObject({ state: 'ready' });
});

test('a person who starts over and over is refused before any server is asked, and another is not', async () => {
  const { service } = fixture;
  const [grace, other] = [await signUp(service), await signUp(service)];
  const begin = ({ session }: { session: typeof person.session }) =>
    session.post('/v1/connections/oauth/tool-server/start', { url: toolServer.url });
  const fetches = vi.spyOn(service.deps.outbound, 'fetchWithin');
  for (let count = 0; count < 20; count += 1) expect((await begin(grace)).status).toBe(200);
  expect(fetches).toHaveBeenCalled();
  fetches.mockClear();
  const refused = await begin(grace);
  expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limited']);
  expect(fetches).not.toHaveBeenCalled();
  fetches.mockRestore();
  expect((await begin(other)).status).toBe(200);
});

test('a client that a person registered is used instead, and remembered', async () => {
  const port = await freePort();
  const closed = await startAuthorizationServer({
    port,
    registration: false,
    clients: [
      {
        client_id: 'by-hand',
        client_secret: 'canary-secret-by-hand-0123456789',
        redirect_uris: [redirectUriAt(`http://127.0.0.1:${port}`)],
        grant_types: ['authorization_code', 'refresh_token'],
        application_type: 'native',
      },
    ],
  });
  const gate = await startProtectedToolServer({
    port: 0,
    authorizationServer: closed,
    upstream: everything.url,
  });
  try {
    const refused = await start({ url: gate.url });
    expect(refused.status).toBe(400);
    expect(refused.body.error.message).toContain('give clientId and clientSecret');
    expect(refused.body.error.message).toContain(redirectUriAt(closed.issuer));
    const { data } = await signIn({
      url: gate.url,
      clientId: 'by-hand',
      clientSecret: 'canary-secret-by-hand-0123456789',
    });
    expect(data.state).toBe('ready');
    const again = await start({ connectionId: data.id });
    expect(new URL(again.data.authorizationUrl).searchParams.get('client_id')).toBe('by-hand');
  } finally {
    await gate.stop();
    await closed.stop();
  }
});

test('a start without an address or connection, or for a connection of another kind, is refused', async () => {
  expect((await start({})).body.error.message).toContain('url: required');
  expect((await start({ url: 'ftp://tools.example.com/' })).status).toBe(400);
  const open = await person.session.post('/v1/connections', { name: 'Open', url: everything.url });
  expect(open.status).toBe(201);
  const mixed = await start({ connectionId: open.data.id });
  expect(mixed.body.error.message).toBe('connectionId: the connection does not use a sign-in');
});
