import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createModelCredentials } from '#core/models/connections/index.ts';
import { ahead, changeAccounts, refusedEarlier } from '#test/support/given.ts';
import {
  connectionOf,
  newOwner,
  pollDue,
  startDevice,
  startModelFixture,
  storedRow,
  type ModelFixture,
} from './fixture.ts';
import { startScriptedServer, type ScriptedServer } from './scripted-server.ts';

let server: ScriptedServer;
let fixture: ModelFixture;
let ada: Awaited<ReturnType<typeof newOwner>>;

beforeAll(async () => {
  server = await startScriptedServer();
  fixture = await startModelFixture({
    auth: {
      'provider-a': {
        issuer: undefined,
        accountLabelClaim: undefined,
        deviceAuthorizationEndpoint: `${server.origin}/device`,
        tokenEndpoint: `${server.origin}/token`,
        scopes: ['chat'],
      },
    },
  });
});
afterAll(async () => {
  await fixture?.close();
  await server?.stop();
});
beforeEach(async () => {
  ada = await newOwner(fixture);
  server.reset();
});

/** Makes tokens that the fixture provider accepts. */
function tokens(more: object = {}): object {
  const token = `token-${randomUUID()}`;
  fixture.providers.control.credentials.add(token);
  return { access_token: token, refresh_token: 'r1', expires_in: 3600, ...more };
}

async function connect(answer: object): Promise<string> {
  server.answer('/device', {
    device_code: 'device-code',
    user_code: 'ABCD-EFGH',
    verification_uri: 'http://127.0.0.1:4013/device',
    expires_in: 600,
  });
  const { data } = await startDevice(ada.session);
  server.answer('/token', answer);
  const polled = await pollDue(fixture, ada.session, data.attemptId);
  if (polled.data.state !== 'succeeded') throw new Error(JSON.stringify(polled.body));
  return polled.data.connectionId;
}

function use(id: string, seconds = 60) {
  const signal = new AbortController().signal;
  const ref = { id, projectId: ada.person.projectId };
  return createModelCredentials(fixture.service.deps).forCall(ref, { deadline: Date.now() + seconds * 1_000, signal });
}
function expireIn(id: string, seconds: number) {
  return changeAccounts(fixture.service.deps.database, id, { credentialExpiresAt: ahead(`${seconds} seconds`) });
}

/** Counts the token requests since the sign-in. */
function renewals(): number {
  return server.seen('/token').filter(({ body }) => body['grant_type'] === 'refresh_token').length;
}

test.for<[string, object]>([
  ['nulls', { token_type: null, scope: null, id_token: null, expires_in: null }],
  ['words for numbers', { expires_in: 'soon' }],
  ['fields of other types', { scope: 7, id_token: {}, refresh_token: null }],
  ['scopes in a list', { scope: ['chat'] }],
  ['no type', { token_type: undefined }],
])('a renewal with %s brings its token', async ([, odd]) => {
  const id = await connect(tokens());
  await expireIn(id, -5);
  server.answer('/token', tokens(odd));
  expect((await use(id)).version).toBe(2);
  expect((await connectionOf(ada.session, id)).status).toBe('ready');
});

test.for([[null], [''], ['soon'], [0], [-1]])(
  'a token whose life is %j is used until the provider refuses it',
  async ([life]) => {
    const id = await connect(tokens({ expires_in: life }));
    expect((await use(id)).version).toBe(1);
    expect((await use(id, 600)).version).toBe(1);
    expect(renewals()).toBe(0);
  },
);

test('a token of a minute is renewed when half of it is over, and not before each call', async () => {
  const id = await connect(tokens({ expires_in: 60 }));
  expect((await use(id, 600)).version).toBe(1);
  expect((await use(id, 600)).version).toBe(1);
  expect(renewals()).toBe(0);
  await expireIn(id, 25);
  server.answer('/token', tokens({ expires_in: 60 }));
  expect((await use(id, 600)).version).toBe(2);
  expect((await use(id, 600)).version).toBe(2);
  expect(renewals()).toBe(1);
});

test.for([
  ['invalid_request', { status: 400, body: { error: 'invalid_request' } }],
  ['a word of its own', { status: 403, body: { error: 'REFRESH_TOKEN_UNKNOWN' } }],
  ['a list', { status: 400, body: ['invalid'] }],
  ['an empty 401', { status: 401, body: {} }],
  ['404', { status: 404, body: {} }],
  ['an error in a 200', { status: 200, body: { code: 401 } }],
] as const)('a renewal that is refused with %s ends the sign-in the second time', async ([, answer]) => {
  const id = await connect(tokens());
  server.answer('/token', answer);
  await expireIn(id, 10);
  expect((await use(id)).version).toBe(1);
  // The service asks again only after a minute, unless the token expires.
  expect((await use(id)).version).toBe(1);
  // The service asked once without the scope, and once with it.
  expect(renewals()).toBe(2);
  await expireIn(id, -5);
  await expect(use(id)).rejects.toMatchObject({ code: 'connection_not_ready' });
  expect(await connectionOf(ada.session, id)).toMatchObject({
    status: 'needs_reauthorization',
    error: { code: 'authorization_revoked' },
  });
  const asked = renewals();
  await expect(use(id)).rejects.toMatchObject({ code: 'connection_not_ready' });
  expect(renewals()).toBe(asked);
  const mails = await fixture.service.deps.database
    .rows`select kind, user_id from outbox where project_id = ${ada.person.projectId}`;
  expect(mails).toEqual([{ kind: 'model_connection', user_id: ada.person.userId }]);
});

test('three refusals in ten minutes end a sign-in whose token still works', async () => {
  const id = await connect(tokens());
  server.answer('/token', { status: 400, body: { error: 'invalid_request' } });
  const { database } = fixture.service.deps;
  for (const interval of ['5 minutes', '6 minutes']) {
    await expireIn(id, 10);
    expect((await use(id)).version).toBe(1);
    await changeAccounts(database, id, { renewalRefusals: refusedEarlier(interval) });
  }
  await expireIn(id, 10);
  await expect(use(id)).rejects.toMatchObject({ code: 'connection_not_ready' });
});

test('the scope of the file goes along once the server has refused a renewal without it', async () => {
  const id = await connect(tokens());
  await expireIn(id, -5);
  server.answer('/token', { status: 400, body: { error: 'invalid_request' } }, tokens());
  expect((await use(id)).version).toBe(2);
  const scopes = server.seen('/token').map(({ body }) => body['scope']);
  expect(scopes.slice(-2)).toEqual([undefined, 'chat']);
  expect((await storedRow(fixture, id))['renewal_refusals']).toBeNull();
});
