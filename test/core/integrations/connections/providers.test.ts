import { readFile } from 'node:fs/promises';
import { SYSTEM } from '#core/foundation/audit/index.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pino } from 'pino';
import { readConnection } from '#core/integrations/connections/index.ts';
import { completeSignIn } from '#core/integrations/connections/oauth/complete.ts';
import { createOAuthSource } from '#core/integrations/connections/oauth/source.ts';
import { startSignIn } from '#core/integrations/connections/oauth/start.ts';
import { connectWithKey } from '#core/integrations/connections/providers/connect-with-key.ts';
import { loadProviders, readProvider } from '#core/integrations/connections/providers/catalogue.ts';
import { loadConfig } from '#lib/config/index.ts';
import { newId } from '#lib/ids.ts';
import { signUp, type Person } from '#test/support/people.ts';
import {
  API_KEY,
  CLIENT_SECRET,
  expireIn,
  signIn,
  startSignInFixture,
  storedGrant,
  UI_ORIGIN,
  visit,
  type SignInFixture,
} from './sign-in-fixture.ts';
import { proves } from '#test/support/proves.ts';
import { changeConnections } from '#test/support/given.ts';

let fixture: SignInFixture;
let person: Person;

beforeAll(async () => {
  fixture = await startSignInFixture();
  person = await signUp(fixture.service);
});
afterAll(() => fixture.close());

function connect(apiKey: string, session = person.session, provider = 'fixture-key') {
  return session.post(`/v1/connections/api-key/${provider}`, { apiKey });
}

test(
  'the list names every provider and says which are configured',
  proves('GET /v1/connections/providers'),
  async () => {
    const { status, data } = await person.session.get('/v1/connections/providers');
    expect(status).toBe(200);
    const byId = new Map<string, Record<string, unknown>>(data.map((each: { id: string }) => [each.id, each]));
    expect([...byId.keys()]).toEqual(
      expect.arrayContaining([
        'ahrefs',
        'github',
        'google-analytics',
        'google-search-console',
        'hubspot',
        'linear',
        'notion',
        'posthog',
        'slack',
        'stripe',
      ]),
    );
    expect(byId.get('github')).toEqual({
      id: 'github',
      name: 'GitHub',
      category: 'development',
      auth: 'oauth',
      configured: false,
      scopes: ['repo', 'read:org', 'read:user'],
      redirectUri: `${UI_ORIGIN}/oauth/callback/github`,
      toolServer: 'https://api.githubcopilot.com/mcp/',
      listsAccounts: true,
      keyPage: null,
      documentation: 'https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps',
    });
    expect(byId.get('fixture')).toMatchObject({ configured: true });
    // No client has to be registered for a key, or at a provider where clients register themselves.
    expect(byId.get('stripe')).toMatchObject({
      auth: 'api_key',
      configured: true,
      redirectUri: null,
    });
    expect(byId.get('notion')).toMatchObject({ auth: 'oauth', configured: true });
  },
);

test('a key with any scope may read the list', async () => {
  const key = await person.key(['models:read']);
  expect((await key.get('/v1/connections/providers')).status).toBe(200);
});

test(
  'an API key of the provider is tried, then kept sealed',
  proves('POST /v1/connections/api-key/:provider', 'GET /v1/connections/:connectionId/accounts'),
  async () => {
    const { status, data } = await connect(API_KEY);
    expect(status).toBe(201);
    expect(data).toMatchObject({
      kind: 'managed',
      provider: 'fixture-key',
      name: 'Fixture with keys',
      auth: 'api_key',
      state: 'ready',
      accountLabel: 'https://shop.example/ and 1 more',
    });
    const { data: accounts } = await person.session.get(`/v1/connections/${data.id}/accounts`);
    expect(accounts).toHaveLength(2);
    const [stored] = await fixture.service.deps.database.rows<{
      text: string;
    }>`select connections::text as text from connections where id = ${data.id}`;
    expect(stored!.text).toContain('v1.');
    expect(JSON.stringify([data, accounts, stored])).not.toContain(API_KEY);
  },
);

test('a key that the provider does not take is not kept', async () => {
  const before = (await person.session.get('/v1/connections')).data.length;
  const refused = await connect('wrong-key-canary');
  expect(refused.status).toBe(400);
  expect(refused.body.error.message).toBe('apiKey: the provider does not accept this key');
  expect((await connect('with space')).status).toBe(400);
  expect((await person.session.get('/v1/connections')).data.length).toBe(before);
});

test('connecting with a key needs the scope to write connections, and a provider that takes keys', async () => {
  const reader = await person.key(['connections:read']);
  expect((await connect(API_KEY, reader)).body.error.code).toBe('insufficient_scope');
  const writer = await person.key(['connections:write']);
  expect((await connect(API_KEY, writer)).status).toBe(201);
  expect((await connect(API_KEY, person.session, 'fixture')).body.error.code).toBe('invalid_request');
  expect((await connect(API_KEY, person.session, 'unknown')).body.error.code).toBe('provider_not_found');
});

test('the same Idempotency-Key makes one connection', async () => {
  const once = person.session.with({ 'Idempotency-Key': 'connect-once' });
  const [first, second] = [await connect(API_KEY, once), await connect(API_KEY, once)];
  expect(second.data).toEqual(first.data);
  expect(second.headers.get('idempotent-replayed')).toBe('true');
});

test('a new key takes the place of one that the provider does not take any more', async () => {
  const { id } = (await connect(API_KEY)).data;
  const { deps } = fixture.service;
  const sealed = deps.connectionSecrets.seal(id, {
    kind: 'headers',
    headers: { authorization: 'Bearer revoked-at-the-provider' },
  });
  await changeConnections(deps.database, id, { credentials: sealed });
  const refused = await person.session.get(`/v1/connections/${id}/accounts`);
  expect(refused.body.error.code).toBe('connection_not_ready');
  const listed = await person.session.get('/v1/connections');
  expect(listed.data.find((each: { id: string }) => each.id === id)).toMatchObject({
    state: 'needs_reauthorization',
    error: { code: 'credentials_rejected' },
  });
  const replaced = await person.session.post('/v1/connections/api-key/fixture-key', {
    apiKey: API_KEY,
    connectionId: id,
  });
  expect(replaced.data).toMatchObject({ id, state: 'ready', error: null });
  expect((await person.session.get(`/v1/connections/${id}/accounts`)).data).toHaveLength(2);
});

test("another project's connection has no accounts to list", async () => {
  const { data } = await connect(API_KEY);
  const other = await signUp(fixture.service);
  const refused = await other.session.get(`/v1/connections/${data.id}/accounts`);
  expect(refused.body.error.code).toBe('connection_not_found');
});

test('no credential reaches a log line or an error, however a connection fails', async () => {
  const lines: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
  const deps = {
    ...fixture.service.deps,
    log,
    uiOrigin: UI_ORIGIN,
    clientMetadataUrl: () => 'https://api.acme.dev/oauth/client-metadata.json',
  };
  const { control } = fixture.authorizationServer;
  const secrets = [API_KEY, CLIENT_SECRET, 'wrong-key-canary'];
  const failures: unknown[] = [];
  const failed = (work: Promise<unknown>) =>
    work.then(
      () => Promise.reject(new Error('expected to fail')),
      (error: unknown) => failures.push(error),
    );

  await failed(
    connectWithKey(deps, {
      id: newId('connection'),
      connectionId: undefined,
      projectId: person.projectId,
      provider: 'fixture-key',
      name: undefined,
      apiKey: 'wrong-key-canary',
      createdBy: null,
      by: SYSTEM,
    }),
  );
  const { data } = await signIn(person.session, 'fixture');
  const connection = await readConnection(deps.database, person.projectId, data.id);
  const { accessToken, refreshToken } = await storedGrant(fixture.service, data.id);
  secrets.push(accessToken, refreshToken);
  // This token endpoint repeats everything that it received.
  const echo = JSON.stringify({ error: 'server_error', error_description: secrets.join(' ') });
  for (const [status, body] of [
    [500, secrets.join(' ')],
    [400, echo],
    [400, echo.replace('server_error', 'invalid_grant')],
  ] as const) {
    control.tokenFaults.push({ status, body });
    await expireIn(fixture.service, data.id, -3600);
    await failed(createOAuthSource(deps).headers(connection, new AbortController().signal));
  }
  const started = await startSignIn(deps, {
    projectId: person.projectId,
    userId: person.userId,
    sessionId: 'the-session',
    provider: 'fixture',
    connectionId: undefined,
    name: undefined,
    url: undefined,
    client: undefined,
  });
  const answer = new URLSearchParams(await visit(started.authorizationUrl));
  secrets.push(answer.get('code')!, answer.get('state')!);
  control.tokenFaults.push({ status: 400, body: echo });
  await failed(
    completeSignIn(deps, {
      callback: 'fixture',
      userId: person.userId,
      sessionId: 'the-session',
      state: answer.get('state')!,
      code: answer.get('code')!,
      error: undefined,
      iss: answer.get('iss') ?? undefined,
      by: SYSTEM,
    }),
  );

  expect(lines.length).toBeGreaterThan(3);
  const said = [...lines, ...failures.map((error) => `${(error as Error).stack} ${JSON.stringify(error)}`)];
  for (const secret of secrets) expect(said.join('\n')).not.toContain(secret);
});

test('every provider of ours leads somewhere over https and names the page it was taken from', async () => {
  const { providers } = await loadProviders({});
  expect(providers.length).toBeGreaterThanOrEqual(8);
  for (const { id, documentation, toolServer, auth, accounts } of providers) {
    const urls = [
      documentation,
      toolServer,
      accounts?.request.url,
      auth.kind === 'oauth' ? auth.authorizationEndpoint : undefined,
      auth.kind === 'oauth' ? auth.tokenEndpoint : undefined,
      auth.kind === 'oauth' ? auth.revocationEndpoint : undefined,
    ].filter((url) => typeof url === 'string');
    for (const url of urls) expect(`${id} ${url}`).toMatch(/^\S+ https:/);
  }
});

test.each([
  ['x.yaml', 'name: X', /x\.yaml: category: .*documentation: /],
  ['tool-server.yaml', '', /a free kebab-case name/],
  ['Bad_Name.yaml', '', /kebab-case/],
  [
    'x.yaml',
    'name: X\ncategory: seo\ndocumentation: https://x.example\nauth: {kind: discovery}\naccounts: null\ntoolServer: null',
    /discovery needs a tool server/,
  ],
])('a provider file %s that is wrong is named with its faults', (file, text, message) => {
  expect(() => readProvider(file, text)).toThrow(message);
});

test('the example in the documentation is a provider file that can be read', async () => {
  const text = await readFile(new URL('../../../../docs/connections-providers.md', import.meta.url), 'utf8');
  const [, example] = /```yaml\n([\s\S]*?)```/.exec(text)!;
  expect(readProvider('example.yaml', example!)).toMatchObject({
    id: 'example',
    auth: { kind: 'oauth', client: 'EXAMPLE', scopes: ['read'] },
    accounts: { list: 'data.sites.*' },
  });
});

test('a client for a provider that does not exist stops the start', async () => {
  const clients = { UNKNOWN: { clientId: 'a', clientSecret: 'b' } };
  await expect(loadProviders(clients)).rejects.toThrow('CONNECTION_UNKNOWN_CLIENT_ID');
});

test('a client id without its secret is a fault of the configuration that names the variable', () => {
  const environment = {
    CONNECTION_GITHUB_CLIENT_ID: 'canary-id',
    CONNECTION_SLACK_CLIENT_SECRET: 'canary',
  };
  expect(() => loadConfig('api', environment)).toThrow(/CONNECTION_GITHUB_CLIENT_SECRET: required/);
  expect(() => loadConfig('api', environment)).toThrow(/CONNECTION_SLACK_CLIENT_ID: required/);
  expect(() => loadConfig('api', environment)).not.toThrow(/canary/);
});
