import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createModelCredentials } from '#core/models/connections/index.ts';
import {
  connectionOf,
  newOwner,
  pollDue,
  revoke,
  startDevice,
  startModelFixture,
  type ModelFixture,
  type OwnSession,
} from './fixture.ts';
import { startScriptedServer, type ScriptedServer } from './scripted-server.ts';
import { ahead, changeAccounts } from '#test/support/given.ts';

const RESOURCE = 'https://models.example/api';
const DEVICE_CODE = `device-${randomUUID()}`;

let server: ScriptedServer;
let fixture: ModelFixture;
let ada: OwnSession;

beforeAll(async () => {
  server = await startScriptedServer();
  fixture = await startModelFixture({
    auth: {
      'provider-a': {
        // The file has every endpoint, so nothing is discovered.
        issuer: undefined,
        accountLabelClaim: undefined,
        deviceAuthorizationEndpoint: `${server.origin}/device`,
        tokenEndpoint: `${server.origin}/token`,
        revocationEndpoint: `${server.origin}/revoke`,
        tokenEndpointAuth: 'client_secret_basic',
        tokenBody: 'json',
        scopes: ['chat', 'models'],
        scopeSeparator: ';',
        requiredScopes: ['models'],
        resource: RESOURCE,
        extraTokenParameters: { audience: 'inference' },
        extraDeviceParameters: { device_name: 'automation' },
        refusals: ['session_over'],
      },
    },
    env: { MODEL_PROVIDER_A_CLIENT_SECRET: 'client-secret' },
  });
});
afterAll(async () => {
  await fixture?.close();
  await server?.stop();
});
beforeEach(async () => {
  ada = await newOwner(fixture);
  server.reset();
  server.answer('/revoke', {});
});

const basic = `Basic ${Buffer.from('fixture-device-client:client-secret').toString('base64')}`;

function issue(more: object = {}): void {
  server.answer('/device', {
    device_code: DEVICE_CODE,
    user_code: 'ABCD-EFGH',
    verification_uri: 'http://127.0.0.1:4013/device',
    expires_in: 600,
    interval: 5,
    ...more,
  });
}

/** Makes tokens that the fixture provider accepts. */
function grant(more: object = {}): object {
  const token = `token-${randomUUID()}`;
  fixture.providers.control.credentials.add(token);
  return { access_token: token, token_type: 'Bearer', expires_in: '3600', ...more };
}

async function connect(tokens: object): Promise<string> {
  issue();
  const { data } = await startDevice(ada.session);
  server.answer('/token', tokens);
  const polled = await pollDue(fixture, ada.session, data.attemptId);
  if (polled.data.state !== 'succeeded') throw new Error(JSON.stringify(polled.body));
  return polled.data.connectionId;
}

async function renew(id: string, expiresIn = '5 seconds') {
  const { deps } = fixture.service;
  await changeAccounts(deps.database, id, { credentialExpiresAt: ahead(expiresIn) });
  const ref = { id, projectId: ada.person.projectId };
  const signal = new AbortController().signal;
  return createModelCredentials(deps).forCall(ref, { deadline: Date.now() + 60_000, signal });
}

test('every field of the file is in the requests, as JSON and with the client authenticated', async () => {
  const id = await connect(grant({ refresh_token: 'r1', scope: 'chat;models' }));
  expect(server.seen('/device')).toMatchObject([
    {
      contentType: 'application/json',
      authorization: basic,
      body: { scope: 'chat;models', resource: RESOURCE, device_name: 'automation' },
    },
  ]);
  expect(server.seen('/token')).toEqual([
    {
      path: '/token',
      contentType: 'application/json',
      authorization: basic,
      body: {
        audience: 'inference',
        resource: RESOURCE,
        grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
        device_code: DEVICE_CODE,
      },
    },
  ]);
  expect(await connectionOf(ada.session, id)).toMatchObject({
    status: 'ready',
    accountLabel: 'Fixture provider-a account',
  });
  await revoke(ada.session, id);
  await expect
    .poll(() => server.seen('/revoke'))
    .toMatchObject([{ authorization: basic, body: { token: 'r1', token_type_hint: 'refresh_token' } }]);
});

test('the device code is in no response and in no log', async () => {
  issue({ verification_uri_complete: 'http://127.0.0.1:4013/device?code=ABCD-EFGH' });
  const started = await startDevice(ada.session);
  server.answer('/token', { error: 'authorization_pending' });
  const polled = await pollDue(fixture, ada.session, started.data.attemptId);
  expect(polled.data).toMatchObject({
    state: 'pending',
    userCode: 'ABCD-EFGH',
    verificationUriComplete: 'http://127.0.0.1:4013/device?code=ABCD-EFGH',
  });
  expect(JSON.stringify([started.body, polled.body])).not.toContain(DEVICE_CODE);
  expect(fixture.runtime.output()).not.toContain(DEVICE_CODE);
});

test.for([
  [0, 5],
  [-3, 5],
  ['soon', 5],
  [null, 5],
  [86_400, 5],
  [7, 7],
  ['8', 8],
  [0.5, 5],
  [2.2, 3],
] as const)('an interval of %j is %i seconds', async ([said, seconds]) => {
  issue({ interval: said });
  expect((await startDevice(ada.session)).data.intervalSeconds).toBe(seconds);
});

test.for([
  [86_400, 15],
  ['never', 15],
  [-1, 15],
  [120, 2],
] as const)('an attempt that the provider lets live for %j seconds ends in %i minutes', async ([said, minutes]) => {
  issue({ expires_in: said });
  const { data } = await startDevice(ada.session);
  const left = (Date.parse(data.expiresAt) - Date.now()) / 60_000;
  expect(left).toBeLessThanOrEqual(minutes + 0.05);
  expect(left).toBeGreaterThan(minutes - 1);
});

test.for([
  { verification_uri: 'javascript:alert(1)' },
  { verification_uri: 'file:///etc/passwd' },
  { verification_uri: undefined },
  { user_code: 'line\nfeed' },
  { device_code: '' },
])('a device code with %j is no device code', async (more) => {
  issue(more);
  const { status, body } = await startDevice(ada.session);
  expect([status, body.error.code]).toEqual([502, 'provider_error']);
});

test('an unsafe page is left out, where there is another', async () => {
  issue({ verification_uri_complete: 'javascript:alert(1)' });
  expect((await startDevice(ada.session)).data).toMatchObject({
    verificationUri: 'http://127.0.0.1:4013/device',
    verificationUriComplete: null,
  });
});

test('a sign-in without a scope that is needed stores nothing', async () => {
  issue();
  const { data } = await startDevice(ada.session);
  server.answer('/token', grant({ refresh_token: 'r1', scope: 'chat' }));
  const polled = await pollDue(fixture, ada.session, data.attemptId);
  expect(polled.data).toMatchObject({ state: 'failed', error: { code: 'scopes_missing' } });
});

test('a renewal without a new refresh token keeps the old one', async () => {
  const id = await connect(grant({ refresh_token: 'first' }));
  server.answer('/token', grant());
  expect((await renew(id)).version).toBe(2);
  expect((await renew(id)).version).toBe(3);
  const renewals = server.seen('/token').slice(1);
  expect(renewals.map(({ body }) => body)).toEqual(
    Array.from({ length: 2 }, () => ({
      audience: 'inference',
      resource: RESOURCE,
      grant_type: 'refresh_token',
      refresh_token: 'first',
    })),
  );
});

test('the words of the file mean that a person has to sign in again, and no others do', async () => {
  const id = await connect(grant({ refresh_token: 'r1' }));
  server.answer('/token', { status: 400, body: { error: 'invalid_grant' } });
  expect((await renew(id)).version).toBe(1);
  expect((await connectionOf(ada.session, id)).status).toBe('ready');
  server.answer('/token', { status: 400, body: { error: 'session_over' } });
  await expect(renew(id, '-5 seconds')).rejects.toMatchObject({ code: 'connection_not_ready' });
  expect((await connectionOf(ada.session, id)).status).toBe('needs_reauthorization');
});
