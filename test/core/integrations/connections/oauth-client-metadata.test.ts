import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startAuthorizationServer } from '#dev/fakes/authorization-server/server.ts';
import { startProtectedToolServer } from '#dev/fakes/authorization-server/protected-tool-server.ts';
import { createRoutine } from '#test/support/routines.ts';
import { expireIn, signIn, startProtectedFixture, UI_ORIGIN, type ProtectedFixture } from './sign-in-fixture.ts';

const PUBLIC_URL = 'https://api.acme.dev';

let fixture: ProtectedFixture;
/** Address of the client's document for the fixture's authorization server. */
let document: string;
/** Addresses that the authorization server has read. */
const read: string[] = [];

beforeAll(async () => {
  fixture = await startProtectedFixture({
    env: { PUBLIC_URL },
    authorizationServer: { readClientMetadata },
  });
  document = documentFor(fixture.authorizationServer.issuer);
});
afterAll(() => fixture.close());

/** Stands in for the internet between the authorization server and the service, which has a public name there. */
async function readClientMetadata(input: string | URL | Request): Promise<Response> {
  const url = new URL(input instanceof Request ? input.url : input);
  read.push(url.href);
  return fetch(`${fixture.service.url}${url.pathname}`);
}

function documentFor(issuer: string): string {
  const digest = createHash('sha256').update(issuer).digest('hex').slice(0, 32);
  return `${PUBLIC_URL}/oauth/client-metadata/tool-server-${digest}.json`;
}
function start(body: object, { person } = fixture) {
  return person.session.post('/v1/connections/oauth/tool-server/start', body);
}
function queryOf(url: string) {
  return new URL(url).searchParams;
}

test('the document says who we are, plainly, to anybody', async () => {
  const response = await fetch(`${fixture.service.url}/oauth/client-metadata.json`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toMatch(/^application\/json/);
  expect(response.headers.get('cache-control')).toBe('public, max-age=3600');
  expect(await response.json()).toEqual({
    client_id: `${PUBLIC_URL}/oauth/client-metadata.json`,
    client_name: 'Routine Automation Service',
    client_uri: PUBLIC_URL,
    redirect_uris: ['tool-server', 'notion'].map((id) => `${UI_ORIGIN}/oauth/callback/${id}`),
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    // The type follows from the address of the user interface, which is local in this test.
    application_type: 'native',
  });
});

test('an authorization server of tool servers has a document of its own, with the one return address it may use', async () => {
  const { pathname } = new URL(document);
  const response = await fetch(`${fixture.service.url}${pathname}`);
  const name = /[^/]+(?=\.json$)/.exec(pathname)?.[0];
  expect(await response.json()).toMatchObject({
    client_id: document,
    redirect_uris: [`${UI_ORIGIN}/oauth/callback/${name}`],
  });
  for (const wrong of ['tool-server', 'notion', `${name}0`, `${name}/x`, 'tool-server-g'.padEnd(44, '0')]) {
    const { status } = await fetch(`${fixture.service.url}/oauth/client-metadata/${wrong}.json`);
    expect([wrong, status]).toEqual([wrong, 404]);
  }
});

test('the document can be read and nothing else', async () => {
  const head = await fetch(`${fixture.service.url}/oauth/client-metadata.json`, { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([200, '']);
  const posted = await fixture.service.anonymous.post('/oauth/client-metadata.json');
  expect(posted.status).toBe(405);
  expect(posted.headers.get('allow')).toBe('GET, HEAD');
  expect(posted.body.error.code).toBe('method_not_allowed');
});

test('its address is our name where the authorization server reads it, from the sign-in to the renewals', async () => {
  const { person, toolServer, authorizationServer, service } = fixture;
  const { data } = await start({ url: toolServer.url });
  expect(queryOf(data.authorizationUrl).get('client_id')).toBe(document);
  const connected = await signIn(person.session, 'tool-server', { url: toolServer.url });
  expect(connected.data).toMatchObject({ state: 'ready', url: toolServer.url });
  expect(new Set(read)).toEqual(new Set([document]));

  await expireIn(service, connected.data.id, 0);
  authorizationServer.control.tokenRequests.length = 0;
  const again = await start({ connectionId: connected.data.id });
  expect(queryOf(again.data.authorizationUrl).get('client_id')).toBe(document);
  const routineId = await createRoutine(person.session);
  const discovered = await person.session.post(`/v1/routines/${routineId}/connections/${connected.data.id}/discover`);
  expect(discovered.status).toBe(200);
  expect(authorizationServer.control.tokenRequests).toEqual(['refresh_token']);
});

test('a client that a person registered comes before it', async () => {
  const { data } = await start({ url: fixture.toolServer.url, clientId: 'by-hand' });
  expect(queryOf(data.authorizationUrl).get('client_id')).toBe('by-hand');
});

test('a server that does not read it gets a registration', async () => {
  const authorizationServer = await startAuthorizationServer({ port: 0 });
  const upstream = fixture.everything.url;
  const gate = await startProtectedToolServer({ port: 0, authorizationServer, upstream });
  try {
    const { data } = await start({ url: gate.url });
    expect(queryOf(data.authorizationUrl).get('client_id')).toMatch(/^[\w-]{10,}$/);
  } finally {
    await gate.stop();
    await authorizationServer.stop();
  }
});
