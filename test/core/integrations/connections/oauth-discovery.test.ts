import { beforeAll, beforeEach, expect, test } from 'vitest';
import { startSignIn } from '#core/integrations/connections/oauth/start.ts';
import type { OutboundClient } from '#lib/outbound/index.ts';
import { guardedClient, localClient, startReceiver, type Receiver } from '#test/lib/outbound/receiver.ts';
import { signUp, type Person } from '#test/support/people.ts';
import { sharedService, type Service } from '#test/support/service.ts';
import { ageCounts } from '#test/support/given.ts';

let service: Service;
let person: Person;

beforeAll(async () => {
  service = await sharedService();
  person = await signUp(service);
});
beforeEach(() => ageCounts(service.deps.database, 'sign-in-start', '1 hour'));

const PRIVATE = [
  'https://127.0.0.1',
  'https://2130706433',
  'https://0x7f.1',
  'https://[::1]',
  'https://[::ffff:127.0.0.1]',
  'https://[64:ff9b::7f00:1]',
  'https://[2002:7f00:1::]',
  'https://169.254.169.254',
  'https://2852039166',
  'https://168.63.129.16',
  'https://10.1.2.3',
  'https://metadata.internal',
  'http://example.com',
  'https://user@example.com',
];

interface HostileAnswers {
  readonly challenge?: string;
  readonly resource?: object;
  readonly metadata?: object;
  /** True for a server without resource metadata, as in the specification of 2025-03-26. */
  readonly old?: boolean;
  /** Redirects by path. */
  readonly redirects?: Readonly<Record<string, string>>;
}

/** Starts a tool server that is its own authorization server, and honest except in the given answers. */
async function hostileServer(answers: HostileAnswers): Promise<Receiver> {
  const receiver = await startReceiver((request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    const to = answers.redirects?.[path];
    if (to !== undefined) return void response.writeHead(307, { location: to }).end();
    const json = (body: object, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const { origin } = receiver;
    if (path === '/.well-known/oauth-protected-resource/mcp' && answers.old !== true) {
      return void json({
        resource: `${origin}/mcp`,
        authorization_servers: [origin],
        ...answers.resource,
      });
    }
    if (path === '/.well-known/oauth-authorization-server') {
      return void json({
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        ...answers.metadata,
      });
    }
    if (path === '/register') {
      return void json({ client_id: 'registered', redirect_uris: ['http://localhost/'] }, 201);
    }
    if (path.startsWith('/.well-known/')) return void response.writeHead(404).end();
    response.writeHead(401, { 'www-authenticate': answers.challenge ?? 'Bearer' }).end();
  });
  return receiver;
}

/** Returns the production client, except that it may reach the test's own server. */
function guardedBut(home: Receiver): OutboundClient {
  const [local, guarded] = [localClient(), guardedClient()];
  const clientFor = (url: string | URL | Request) =>
    URL.parse(url instanceof Request ? url.url : String(url))?.origin === home.origin ? local : guarded;
  return {
    ...guarded,
    request: (options) => clientFor(options.url).request(options),
    fetch: (input, init) => clientFor(input).fetch(input, init),
    fetchWithin: (limits) => (input, init) => clientFor(input).fetchWithin(limits)(input, init),
    urlFault: (url) => clientFor(url).urlFault(url),
  };
}

function start(home: Receiver, clientMetadataUrl = CLIENT_METADATA_URL) {
  return startSignIn(
    {
      ...service.deps,
      outbound: guardedBut(home),
      uiOrigin: 'https://ui.example.com',
      clientMetadataUrl: () => clientMetadataUrl,
    },
    {
      projectId: person.projectId,
      userId: person.userId,
      sessionId: 'the-session',
      provider: 'tool-server',
      connectionId: undefined,
      name: undefined,
      url: `${home.origin}/mcp`,
      client: undefined,
    },
  );
}

const CLIENT_METADATA_URL = 'https://api.acme.dev/oauth/client-metadata.json';
const BLOCKED = { code: 'invalid_request', reason: 'blocked' };

test('the server of these tests is one that can be signed in to', async () => {
  const started = await start(await hostileServer({}));
  expect(new URL(started.authorizationUrl).searchParams.get('client_id')).toBe('registered');
});

test('an older server that is its own authorization server can be signed in to, without a resource', async () => {
  const home = await hostileServer({ old: true });
  const query = new URL((await start(home)).authorizationUrl).searchParams;
  expect(query.get('client_id')).toBe('registered');
  expect(query.has('resource')).toBe(false);
});

test('a server that reads metadata documents gets the address of ours as our name', async () => {
  const home = await hostileServer({ metadata: { client_id_metadata_document_supported: true } });
  const query = new URL((await start(home)).authorizationUrl).searchParams;
  expect(query.get('client_id')).toBe(CLIENT_METADATA_URL);
});

// The specification demands https, and an authorization server elsewhere could not read other addresses.
test.each([
  'http://api.acme.dev',
  'http://localhost:3000',
  'https://localhost',
  'https://10.1.2.3',
  'https://api.internal',
])('%s is no name for us: it gets a registration', async (publicUrl) => {
  const home = await hostileServer({ metadata: { client_id_metadata_document_supported: true } });
  const started = await start(home, `${publicUrl}/oauth/client-metadata.json`);
  expect(new URL(started.authorizationUrl).searchParams.get('client_id')).toBe('registered');
});

test.each(PRIVATE)('%s is refused as the address of resource metadata', async (address) => {
  const home = await hostileServer({ challenge: `Bearer resource_metadata="${address}/metadata"` });
  await expect(start(home)).rejects.toMatchObject(BLOCKED);
});

// For an issuer with a user name, the service asks only its origin, which is public here.
test.each(PRIVATE.slice(0, -1))('%s is refused as an authorization server', async (address) => {
  const home = await hostileServer({ resource: { authorization_servers: [address] } });
  await expect(start(home)).rejects.toMatchObject(BLOCKED);
});

test.each(PRIVATE)('%s is refused as a registration endpoint', async (address) => {
  const home = await hostileServer({ metadata: { registration_endpoint: `${address}/register` } });
  await expect(start(home)).rejects.toMatchObject(BLOCKED);
});

test.each(PRIVATE)('%s is refused as a token endpoint', async (address) => {
  const home = await hostileServer({ metadata: { token_endpoint: `${address}/token` } });
  await expect(start(home)).rejects.toMatchObject(BLOCKED);
});

test.each(PRIVATE)('%s is refused as the page that a person is sent to', async (address) => {
  const home = await hostileServer({
    metadata: { authorization_endpoint: `${address}/authorize` },
  });
  await expect(start(home)).rejects.toMatchObject(BLOCKED);
});

test.each([
  ['/.well-known/oauth-protected-resource/mcp'],
  ['/.well-known/oauth-authorization-server'],
  ['/register'],
  ['/mcp'],
])('a redirect of %s is not followed to another origin', async (path) => {
  const away = await startReceiver((_, response) => response.end('{}'));
  for (const to of ['http://169.254.169.254/latest/meta-data/', away.origin]) {
    const home = await hostileServer({ redirects: { [path]: to } });
    await start(home).then(
      // A server without resource metadata is its own authorization server, like older servers.
      () => expect(path).toBe('/.well-known/oauth-protected-resource/mcp'),
      (error: unknown) => expect(error).toMatchObject({ name: 'AppError' }),
    );
  }
  expect(away.connections()).toBe(0);
});

test.each([
  ['metadata that makes no sense', { metadata: { token_endpoint: 7 } }, 'no_metadata'],
  ['a script as the page for people', { metadata: { authorization_endpoint: 'javascript:x()' } }, 'no_metadata'],
  ['no PKCE', { metadata: { code_challenge_methods_supported: undefined } }, 'no_pkce'],
  ['PKCE without S256', { metadata: { code_challenge_methods_supported: ['plain'] } }, 'no_pkce'],
  ['another issuer', { metadata: { issuer: 'https://accounts.example.com' } }, 'wrong_issuer'],
  ["another server's resource", { resource: { resource: 'https://bank.example.com/mcp' } }, 'foreign_resource'],
  ['no registration', { metadata: { registration_endpoint: undefined } }, 'no_registration'],
])('a server with %s is not signed in to', async (_, answers, reason) => {
  await expect(start(await hostileServer(answers))).rejects.toMatchObject({ reason });
});

test('a server that calls itself another is named beside the one that was asked for, as addresses only', async () => {
  const issuer = 'https://name:canary-0123456789@accounts.example.com/?canary-0123456789';
  const home = await hostileServer({ metadata: { issuer } });
  await expect(start(home)).rejects.toMatchObject({
    message: `The authorization server calls itself https://accounts.example.com/, but the tool server calls it ${home.origin}.`,
  });
});

test('nothing of what a hostile server says is in the error', async () => {
  const canary = 'canary-0123456789';
  const home = await hostileServer({
    challenge: `Bearer error_description="${canary}", scope="${canary}"`,
    metadata: { registration_endpoint: canary, scopes_supported: { [canary]: canary } },
  });
  const error: unknown = await start(home).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(Error);
  expect(`${(error as Error).stack} ${JSON.stringify(error)}`).not.toContain(canary);
});
