import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startReceiver, type Receiver } from '#test/lib/outbound/receiver.ts';
import { comeBack, returnFrom, startProtectedFixture, type ProtectedFixture } from './sign-in-fixture.ts';

let fixture: ProtectedFixture;

beforeAll(async () => {
  fixture = await startProtectedFixture();
});
afterAll(() => fixture.close());

function start(url: string) {
  return fixture.person.session.post('/v1/connections/oauth/tool-server/start', { url });
}

interface HostileOptions {
  /** Returns the address to which the authorization page sends a person, for the query of that page. */
  readonly onwards?: (query: URLSearchParams) => string;
  readonly metadata?: object;
}

/** Starts a tool server that is its own authorization server, and would misuse the codes of another one. */
async function hostileServer({ onwards, metadata }: HostileOptions): Promise<Receiver> {
  const receiver = await startReceiver((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://any');
    const { origin } = receiver;
    const json = (body: object, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (pathname === '/.well-known/oauth-authorization-server') {
      return void json({
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        ...metadata,
      });
    }
    if (pathname === '/register') {
      return void json({ client_id: 'ours', redirect_uris: ['http://localhost/'] }, 201);
    }
    if (pathname === '/authorize' && onwards !== undefined) {
      return void response.writeHead(303, { location: onwards(searchParams) }).end();
    }
    if (pathname === '/token') return void json({ access_token: 'x', token_type: 'Bearer' });
    response.writeHead(pathname.startsWith('/.well-known/') ? 404 : 401).end();
  });
  return receiver;
}

function tokenRequestsTo({ received }: Receiver) {
  return received.filter(({ path }) => path === '/token').map(({ body }) => body);
}

/**
 * Redirects a person who signs in at the hostile server to the honest one, in the name of our client there. The request
 * has the state of the hostile sign-in, and a challenge whose verifier the hostile server knows.
 */
async function mixedUp(edit: (query: URLSearchParams) => void) {
  const honest = await start(fixture.toolServer.url);
  const verifier = randomBytes(32).toString('base64url');
  const hostile = await hostileServer({
    onwards(query) {
      const url = new URL(honest.data.authorizationUrl);
      url.searchParams.set('state', query.get('state') ?? '');
      const challenge = createHash('sha256').update(verifier).digest('base64url');
      url.searchParams.set('code_challenge', challenge);
      return url.href;
    },
  });
  const begun = await start(`${hostile.origin}/mcp`);
  const back = await returnFrom(begun.data.authorizationUrl);
  expect(back.searchParams.get('code')).toMatch(/.{20}/);
  edit(back.searchParams);
  return { hostile, back, begun, answer: await comeBack(fixture.person.session, back) };
}

test('each authorization server has a return address of its own, which stays the same', async () => {
  const other = await hostileServer({});
  const [first, again, second] = [
    await start(fixture.toolServer.url),
    await start(fixture.toolServer.url),
    await start(`${other.origin}/mcp`),
  ];
  expect(first.data.redirectUri).toBe(again.data.redirectUri);
  expect(first.data.redirectUri).not.toBe(second.data.redirectUri);
});

test('a code of an honest server that says nothing of its issuer does not get to a hostile one', async () => {
  // Servers older than RFC 9207 send no issuer.
  const { hostile, answer } = await mixedUp((query) => query.delete('iss'));
  expect([answer.status, answer.body.error.code]).toEqual([409, 'attempt_expired']);
  expect(tokenRequestsTo(hostile)).toEqual([]);
});

test('nor does one of a server that names itself, with any return address', async () => {
  const { hostile, back, begun } = await mixedUp(() => undefined);
  const again = await start(`${hostile.origin}/mcp`);
  const forged = new URL(again.data.redirectUri);
  for (const name of ['code', 'iss']) forged.searchParams.set(name, back.searchParams.get(name)!);
  forged.searchParams.set('state', new URL(again.data.authorizationUrl).searchParams.get('state')!);
  const answer = await comeBack(fixture.person.session, forged);
  expect([answer.status, answer.body.error.code]).toEqual([502, 'provider_error']);
  expect(answer.body.error.message).toContain('not from the authorization server');
  expect(tokenRequestsTo(hostile)).toEqual([]);
  expect(begun.data.redirectUri).toBe(again.data.redirectUri);
});

test('a server whose metadata promises to name itself has to, in an error too', async () => {
  const server = await hostileServer({
    metadata: { authorization_response_iss_parameter_supported: true },
  });
  const responses = [
    { code: 'a-code' },
    { error: 'access_denied' },
    { code: 'a-code', iss: `${server.origin}/other` },
    { error: 'access_denied', iss: 'https://other.example' },
  ];
  for (const response of responses) {
    const { data } = await start(`${server.origin}/mcp`);
    const back = new URL(data.redirectUri);
    back.searchParams.set('state', new URL(data.authorizationUrl).searchParams.get('state')!);
    for (const [name, value] of Object.entries(response)) back.searchParams.set(name, value);
    const answer = await comeBack(fixture.person.session, back);
    expect(answer.body.error.message).toContain('not from the authorization server');
  }
  expect(tokenRequestsTo(server)).toEqual([]);
  // If the response names the issuer, the service believes the error; with a code, it asks the server.
  const named = await start(`${server.origin}/mcp`);
  const back = new URL(named.data.redirectUri);
  back.searchParams.set('state', new URL(named.data.authorizationUrl).searchParams.get('state')!);
  back.searchParams.set('iss', server.origin);
  back.searchParams.set('code', 'a-code');
  await comeBack(fixture.person.session, back);
  expect(tokenRequestsTo(server)).toHaveLength(1);
});
