import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createModelCredentials } from '#core/models/connections/index.ts';
import { AT_ONCE } from '#lib/database/index.ts';
import {
  comeBack,
  newOwner,
  revoke,
  startModelFixture,
  startOAuth,
  storedRow,
  type ModelFixture,
  type OwnSession,
} from './fixture.ts';
import { startScriptedServer, type ScriptedServer } from './scripted-server.ts';
import { changeAccounts } from '#test/support/given.ts';

const ISSUED_CLIENT = 'client-of-this-installation';
const ACCOUNT_HEADER = 'https://provider.example/account';

let server: ScriptedServer;
let fixture: ModelFixture;
let ada: OwnSession;

beforeAll(async () => {
  server = await startScriptedServer();
  fixture = await startModelFixture({
    auth: {
      'provider-b': {
        issuer: server.origin,
        tokenEndpointAuth: 'client_secret_post',
        authorizationParameters: { prompt: 'consent', audience: 'inference' },
        issuedClientId: true,
        instanceIdParameter: 'instance_id',
        accountIdClaim: 'account.id',
        accountLabelClaim: 'account.name',
      },
    },
    api: { accountHeader: { name: 'x-account', claim: ACCOUNT_HEADER } },
    env: { MODEL_PROVIDER_B_CLIENT_SECRET: 'client-secret' },
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
  fixture.providers.control.reset();
});

interface Begun {
  readonly query: URLSearchParams;
  /** Claims of a good ID token. */
  readonly claims: Record<string, unknown>;
}

async function begin(body: object = {}): Promise<Begun> {
  const { data } = await startOAuth(ada.session, body);
  const query = new URL(data.authorizationUrl).searchParams;
  const now = Math.floor(Date.now() / 1_000);
  const claims = {
    iss: server.origin,
    sub: 'person-1',
    aud: ISSUED_CLIENT,
    iat: now,
    exp: now + 600,
    nonce: query.get('nonce'),
    account: { id: 'acct-1', name: 'grace@provider.example' },
    [ACCOUNT_HEADER]: 'acct-header-1',
  };
  return { query, claims };
}

/** Makes tokens that the fixture provider accepts. */
function grant(more: object): object {
  const token = `token-${randomUUID()}`;
  fixture.providers.control.credentials.add(token);
  return {
    access_token: token,
    token_type: 'Bearer',
    refresh_token: 'r1',
    expires_in: 3600,
    ...more,
  };
}

function finish({ query }: Begun) {
  const returned = new URLSearchParams({
    state: query.get('state') ?? '',
    code: 'the-code',
    client_id: ISSUED_CLIENT,
  });
  return comeBack(ada.session, `?${returned.toString()}`);
}

async function connect(body: object = {}, account: object = {}) {
  const begun = await begin(body);
  const claims = { ...begun.claims, ...account };
  server.answer('/token', grant({ id_token: await server.idToken(claims) }));
  return finish(begun);
}

test('every field of the file is in the requests, and the issued client takes the place of ours', async () => {
  const begun = await begin();
  const query = Object.fromEntries(begun.query);
  expect(query).toMatchObject({
    client_id: 'fixture-sign-in-client',
    prompt: 'consent',
    audience: 'inference',
    instance_id: expect.stringMatching(/^att_/),
  });
  server.answer('/token', grant({ id_token: await server.idToken(begun.claims) }));
  const { status, data } = await finish(begun);
  expect([status, data.status, data.accountLabel]).toEqual([200, 'ready', 'g…@provider.example']);
  expect(server.seen('/token')).toMatchObject([
    {
      contentType: 'application/x-www-form-urlencoded',
      authorization: undefined,
      body: {
        grant_type: 'authorization_code',
        code: 'the-code',
        client_id: ISSUED_CLIENT,
        client_secret: 'client-secret',
        code_verifier: expect.stringMatching(/^[\w.~-]{43,}$/),
        redirect_uri: query['redirect_uri'],
      },
    },
  ]);
  expect(await storedRow(fixture, data.id)).toMatchObject({ account_id: 'acct-1' });
  // Requests name the account in the header that the provider's file chooses.
  const asked = fixture.providers.control.requests();
  expect(asked.length).toBeGreaterThan(1);
  expect(new Set(asked.map(({ headers }) => headers['x-account']))).toEqual(new Set(['acct-header-1']));
});

test('the issued client renews and revokes what it was issued', async () => {
  const { data } = await connect();
  const { deps } = fixture.service;
  await changeAccounts(deps.database, data.id, { credentialExpiresAt: AT_ONCE });
  server.answer('/token', grant({ refresh_token: 'r2' }));
  const ref = { id: data.id, projectId: ada.person.projectId };
  const call = { deadline: Date.now() + 60_000, signal: new AbortController().signal };
  const renewed = await createModelCredentials(deps).forCall(ref, call);
  expect(renewed).toMatchObject({ version: 2, credential: { account: 'acct-header-1' } });
  await revoke(ada.session, data.id);
  await expect.poll(() => server.seen('/revoke')).toHaveLength(1);
  expect(server.seen('/token')[1]?.body).toMatchObject({
    grant_type: 'refresh_token',
    refresh_token: 'r1',
    client_id: ISSUED_CLIENT,
  });
  expect(server.seen('/revoke')[0]?.body).toMatchObject({ token: 'r2', client_id: ISSUED_CLIENT });
});

test.for([
  ['signed by another key', {}, true],
  ['for another client', { aud: 'fixture-sign-in-client' }, false],
  ['of another issuer', { iss: 'https://evil.example' }, false],
  ['for another sign-in', { nonce: 'another' }, false],
  ['without a nonce', { nonce: undefined }, false],
  ['that is over', { exp: 1_000_000_000 }, false],
  ['without an end', { exp: undefined }, false],
  ['without the account', { account: {} }, false],
  ['with an account of two lines', { account: { id: 'a\r\nb: c' } }, false],
] as const)('an ID token %s proves nothing, and its tokens are handed back', async ([, changes, byStranger]) => {
  const begun = await begin();
  const idToken = await server.idToken({ ...begun.claims, ...changes }, { byStranger });
  server.answer('/token', grant({ id_token: idToken }));
  const answer = await finish(begun);
  expect([answer.status, answer.body.error.code]).toEqual([502, 'provider_error']);
  expect((await ada.session.get('/v1/model-connections')).data).toEqual([]);
  await expect.poll(() => server.seen('/revoke').length).toBe(1);
});

test('an account is signed in to again by its verified id, also under another name', async () => {
  const { data } = await connect();
  const same = { sub: 'person-2', account: { id: 'acct-1', name: 'renamed@provider.example' } };
  const again = await connect({ connectionId: data.id }, same);
  expect(again.data).toMatchObject({ id: data.id, accountLabel: 'r…@provider.example' });
  const other = { account: { id: 'acct-2', name: 'grace@provider.example' } };
  const refused = await connect({ connectionId: data.id }, other);
  expect([refused.status, refused.body.error.code]).toEqual([409, 'account_mismatch']);
  // Without an ID token the service cannot identify the account's owner.
  const begun = await begin({ connectionId: data.id });
  server.answer('/token', grant({}));
  const unproven = await finish(begun);
  expect([unproven.status, unproven.body.error.code]).toEqual([409, 'account_mismatch']);
});
