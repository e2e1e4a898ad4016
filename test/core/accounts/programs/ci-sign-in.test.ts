import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose';
import { expect, onTestFinished } from 'vitest';
import { closeAtOnce, listenOn } from '#lib/listen.ts';
import { ApiClient } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { giveRole } from '#test/support/given.ts';
import { signUp, type Person } from '#test/support/people.ts';
import { terminal } from '../../../cli/terminal.ts';

const AUDIENCE = 'https://ras.example.com';
const MAIN = 'repo:acme/site:ref:refs/heads/main';

/**
 * Starts an issuer like GitHub or GitLab: it has metadata and keys, and issues an ID token to a job.
 * @param answer status and body of the response with the keys; by default the real ones
 */
async function startIssuer(answer?: readonly [number, string]) {
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }];
  const asked: string[] = [];
  let origin = '';
  const sign = (claims: JWTPayload, { key = privateKey, kid = 'one', alg = 'RS256' } = {}) =>
    new SignJWT({ iss: origin, sub: MAIN, aud: AUDIENCE, exp: Math.floor(Date.now() / 1_000) + 300, ...claims })
      .setProtectedHeader({ alg, kid })
      .setIssuedAt()
      .sign(key);
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', origin);
    asked.push(url.pathname);
    const audience = url.searchParams.get('audience') ?? '';
    const body =
      url.pathname === '/.well-known/openid-configuration'
        ? Promise.resolve({ issuer: origin, jwks_uri: `${origin}/keys` })
        : url.pathname === '/keys'
          ? Promise.resolve({ keys })
          : sign({ aud: audience }).then((value) => ({ value }));
    const [status, text] = (url.pathname === '/keys' && answer) || [200, undefined];
    void body.then((json) => response.writeHead(status).end(text ?? JSON.stringify(json)));
  });
  const port = await listenOn(server, { host: '127.0.0.1', port: 0 });
  origin = `http://127.0.0.1:${port}`;
  return { origin, sign, asked, close: () => closeAtOnce(server) };
}

const test = serviceTest().extend('issuer', { scope: 'file' }, async ({ service: _service }, { onCleanup }) => {
  const issuer = await startIssuer();
  onCleanup(issuer.close);
  return issuer;
});

const READ = ['routines:read'];

function trust(person: Person, issuer: { origin: string }, fields: object = {}) {
  const session = person.session.with({ 'X-Project-Id': person.projectId });
  const body = { name: 'Main', issuer: issuer.origin, audience: AUDIENCE, subjectPattern: MAIN, scopes: READ };
  return session.post('/v1/ci-trusts', { ...body, ...fields });
}

test('a job exchanges its ID token for a key that has the scopes and ends within the hour', async ({
  service,
  issuer,
}) => {
  const ada = await signUp(service);
  expect((await trust(ada, issuer)).status).toBe(201);
  const { projectId } = ada;
  const exchange = async (token: string) => service.anonymous.post('/v1/auth/ci-token', { projectId, token });
  const given = await exchange(await issuer.sign({}));
  expect(given).toMatchObject({ status: 200, data: { projectId, scopes: READ } });
  const endsIn = new Date(given.data.expiresAt).getTime() - Date.now();
  expect(endsIn).toBeGreaterThan(0);
  expect(endsIn).toBeLessThanOrEqual(60 * 60_000);
  const job = new ApiClient(service.url, { Authorization: `Bearer ${given.data.key}` });
  expect((await job.get('/v1/routines')).status).toBe(200);
  expect((await job.post('/v1/routines', {})).body.error.code).toBe('insufficient_scope');
  const { data: keys } = await ada.session.with({ 'X-Project-Id': projectId }).get('/v1/api-keys');
  expect(keys).toMatchObject([{ name: `Main: ${MAIN}`, createdBy: { id: ada.userId } }]);
});

test('a token of another subject, audience, issuer, key, algorithm or time gets none', async ({ service, issuer }) => {
  const ada = await signUp(service);
  await trust(ada, issuer, { subjectPattern: 'repo:acme/*:ref:refs/heads/release-*' });
  const { projectId } = ada;
  const code = async (token: string) => {
    const { status, body } = await service.anonymous.post('/v1/auth/ci-token', { projectId, token });
    return status === 200 ? 'accepted' : body.error.code;
  };
  const { privateKey: other } = await generateKeyPair('RS256');
  const good = { sub: 'repo:acme/shop:ref:refs/heads/release-1' };
  expect(await code(await issuer.sign(good))).toBe('accepted');
  const refused = [
    issuer.sign({}),
    issuer.sign({ sub: 'repo:acme/shop:environment:x:ref:refs/heads/release-1' }),
    issuer.sign({ sub: 'repo:evil/acme/shop:ref:refs/heads/release-1' }),
    issuer.sign({ ...good, aud: 'https://other.example.com' }),
    issuer.sign({ ...good, iss: 'https://token.actions.githubusercontent.com' }),
    issuer.sign(good, { key: other }),
    issuer.sign({ ...good, exp: Date.now() / 1_000 - 600 }),
    Promise.resolve(`${btoa('{"alg":"none"}')}.${btoa(JSON.stringify({ ...good, iss: issuer.origin }))}.`),
    Promise.resolve('no token'),
  ];
  for (const token of refused) expect(await code(await token)).toBe('invalid_id_token');
});

test.for<Record<string, unknown>>([
  { iss: 5 },
  { iss: null },
  { iss: { a: 1 } },
  { iss: [MAIN] },
  { iss: 'a\0b' },
  { iss: '\uD800' },
  { sub: 5 },
  { sub: null },
  { sub: [MAIN] },
  { sub: { [MAIN]: true } },
  { sub: '' },
  { sub: `${MAIN}\0` },
  { aud: 5 },
  { aud: {} },
  { aud: [null] },
  { nbf: Date.now() / 1_000 + 600 },
  { nbf: 'soon' },
  { exp: 'never' },
])('a token with the claim %j is refused', async (claims, { service, issuer, ada }) => {
  await trust(ada, issuer);
  const token = await issuer.sign(claims);
  const { body } = await service.anonymous.post('/v1/auth/ci-token', { projectId: ada.projectId, token });
  expect(body.error?.code).toBe('invalid_id_token');
});

test('while an issuer has no keys to read, the exchange is to be tried again', async ({ service }) => {
  const ada = await signUp(service);
  const { projectId } = ada;
  for (const answer of [
    [500, '{}'],
    [200, '{"keys": "none"}'],
    [200, 'not JSON'],
    [404, ''],
  ] as const) {
    // Each issuer is a new one, because the keys of a known one are kept.
    const failing = await startIssuer(answer);
    onTestFinished(failing.close);
    await trust(ada, failing);
    const { status, body } = await service.anonymous.post('/v1/auth/ci-token', {
      projectId,
      token: await failing.sign({}),
    });
    expect([answer, status, body.error?.code]).toEqual([answer, 503, 'service_unavailable']);
  }
});

test('no issuer is asked that the project does not name', async ({ service, issuer }) => {
  const bob = await signUp(service);
  const before = issuer.asked.length;
  const token = await issuer.sign({});
  const { body } = await service.anonymous.post('/v1/auth/ci-token', { projectId: bob.projectId, token });
  expect(body.error.code).toBe('invalid_id_token');
  expect(issuer.asked.slice(before)).toEqual([]);
});

test('a pattern names an owner before its first star, and has one star between two colons', async ({
  service,
  issuer,
}) => {
  const ada = await signUp(service);
  const status = async (subjectPattern: string) => (await trust(ada, issuer, { subjectPattern })).status;
  for (const bad of ['*', 'repo:*', 'repo:*/site:pull_request', 'repo:acme/**', 'repo:acme/a*b*:pull_request']) {
    expect([bad, await status(bad)]).toEqual([bad, 400]);
  }
  for (const good of ['repo:acme/*:pull_request', 'project_path:acme/*:ref_type:branch:ref:main', MAIN]) {
    expect([good, await status(good)]).toEqual([good, 201]);
  }
});

test('its keys end with the CI sign-in, and with the role of the person who made it', async ({ service, issuer }) => {
  const ada = await signUp(service);
  const { projectId } = ada;
  const { data: made } = await trust(ada, issuer, { scopes: ['routines:write'] });
  const exchange = async () => service.anonymous.post('/v1/auth/ci-token', { projectId, token: await issuer.sign({}) });
  const first = await exchange();
  const job = new ApiClient(service.url, { Authorization: `Bearer ${first.data.key}` });
  expect((await job.get('/v1/routines')).body.error.code).toBe('insufficient_scope');
  await giveRole(service.deps.database, ada.organizationId, ada.userId, 'member');
  expect((await exchange()).body.error.code).toBe('forbidden');
  await giveRole(service.deps.database, ada.organizationId, ada.userId, 'owner');
  const session = ada.session.with({ 'X-Project-Id': projectId });
  expect((await session.delete(`/v1/ci-trusts/${made.id}`)).status).toBe(200);
  expect((await job.get('/v1/routines')).status).toBe(401);
  expect((await exchange()).body.error.code).toBe('invalid_id_token');
  expect((await session.get('/v1/ci-trusts')).data).toEqual([]);
});

test('ras signs in with the token that GitHub gives a job, and its logout revokes the key', async ({
  service,
  issuer,
}) => {
  const ada = await signUp(service);
  await trust(ada, issuer);
  const user = await terminal();
  const env = {
    RAS_API_URL: service.url,
    RAS_PROJECT: ada.projectId,
    ACTIONS_ID_TOKEN_REQUEST_URL: `${issuer.origin}/token?version=1`,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of the job',
  };
  const signedIn = await user.run(['login', '--oidc', '--audience', AUDIENCE], { env });
  expect(signedIn).toMatchObject({ code: 0, json: { projectId: ada.projectId, scopes: READ } });
  const { stdout: token } = await user.run(['auth', 'token'], { env: { RAS_API_URL: service.url } });
  const job = new ApiClient(service.url, { Authorization: `Bearer ${token.trim()}` });
  expect((await job.get('/v1/routines')).status).toBe(200);
  const out = await user.run(['logout']);
  expect(out.stderr).toContain('is revoked');
  expect((await job.get('/v1/routines')).status).toBe(401);
  const given = await user.run(['login', '--oidc'], { env: { ...env, RAS_ID_TOKEN: await issuer.sign({ sub: 'x' }) } });
  expect(given).toMatchObject({ code: 4, stderr: expect.stringContaining('its subject "x"') });
});

test('a CI sign-in of another project is found by none', async ({ service, issuer }) => {
  const [ada, bob] = [await signUp(service), await signUp(service)];
  const { data } = await trust(ada, issuer);
  const bobs = bob.session.with({ 'X-Project-Id': bob.projectId });
  expect((await bobs.delete(`/v1/ci-trusts/${data.id}`)).body.error.code).toBe('ci_trust_not_found');
  expect((await bobs.get('/v1/ci-trusts')).data).toEqual([]);
});
