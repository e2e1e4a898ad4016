import { expect, test } from 'vitest';
import { keepAccount } from '#core/models/connections/sign-in/keep.ts';
import { newId } from '#lib/ids.ts';
import { signInAgain } from '#test/support/people.ts';
import {
  ada,
  CALLBACK,
  comeBack,
  connectByDevice,
  connectByOAuth,
  fixture,
  newOwner,
  startDevice,
  startOAuth,
  storedRow,
  UI_ORIGIN,
  useModelFixture,
  visitModelPage,
  type OwnSession,
} from './fixture.ts';
import {
  EVERY,
  ago,
  changeAccounts,
  changeOrganizations,
  changeSignIns,
  removeMemberships,
} from '#test/support/given.ts';

useModelFixture();

async function begin(session = ada.session) {
  const { data } = await startOAuth(session);
  return new URL(await visitModelPage(data.authorizationUrl)).search;
}
async function list({ session }: OwnSession = ada) {
  return (await session.get('/v1/model-connections')).data;
}

test('the authorization request has PKCE, a nonce, a long state and our return address', async () => {
  const { data } = await startOAuth(ada.session);
  const query = Object.fromEntries(new URL(data.authorizationUrl).searchParams);
  expect(data).toMatchObject({ redirectUri: `${UI_ORIGIN}${CALLBACK}`, redirect: 'callback' });
  expect(query).toMatchObject({
    response_type: 'code',
    client_id: 'fixture-sign-in-client',
    code_challenge_method: 'S256',
    redirect_uri: data.redirectUri,
    scope: 'openid email offline_access',
  });
  for (const name of ['state', 'nonce', 'code_challenge']) {
    expect(query[name]).toMatch(/^[\w-]{43}$/);
  }
  const stored = await fixture.service.deps.database.rows<{
    text: string;
  }>`select s::text as text from model_sign_ins s`;
  const text = stored.map((each) => each.text).join();
  for (const name of ['state', 'nonce'] as const) expect(text).not.toContain(query[name]);
  const minutes = (Date.parse(data.expiresAt) - Date.now()) / 60_000;
  expect(minutes).toBeGreaterThan(9);
  expect(minutes).toBeLessThan(11);
});

test('a sign-in that is under way when its project is deleted leaves no account behind', async () => {
  const { projectId } = ada.person;
  const query = await begin();
  await startDevice(ada.session);
  const deleted = await ada.session.delete(`/v1/projects/${projectId}?confirm=Default`);
  expect(deleted.status).toBe(200);
  const answer = await comeBack(ada.session, query);
  expect([answer.status, answer.body.error?.code]).toEqual([409, 'attempt_expired']);
  const { database } = fixture.service.deps;
  const attempts =
    await database.rows`select state, sealed from model_sign_ins where project_id = ${projectId} order by provider`;
  expect(attempts).toEqual([
    { state: 'cancelled', sealed: null },
    { state: 'cancelled', sealed: null },
  ]);
  expect(await database.rows`select id from model_connections where project_id = ${projectId}`).toEqual([]);
});

test('an account that was tried while its project was deleted is not stored', async () => {
  const { projectId } = ada.person;
  expect((await ada.session.delete(`/v1/projects/${projectId}?confirm=Default`)).status).toBe(200);
  const { deps } = fixture.service;
  const provider = deps.modelProviders.require('provider-c');
  const stored = keepAccount(deps, {
    id: newId('modelConnection'),
    connectionId: null,
    projectId,
    ownerId: ada.person.userId,
    provider,
    accountId: null,
    accountLabel: 'Late',
    credential: { kind: 'api_key', key: 'sk-late' },
    expiresAt: null,
    tried: { verdict: 'accepted', notBefore: null, models: [] },
    by: { kind: 'person', id: ada.person.userId, address: null },
  });
  await expect(stored).rejects.toMatchObject({ code: 'project_not_found' });
});

test('returns with one state, at the same time and later, lead to the one account that they make', async () => {
  const query = await begin();
  const answers = await Promise.all(Array.from({ length: 5 }, () => comeBack(ada.session, query)));
  answers.push(await comeBack(ada.session, query));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
  const [account] = await list();
  expect(new Set(answers.map((answer) => answer.data.id))).toEqual(new Set([account.id]));
  expect(await list()).toHaveLength(1);
});

test('another session cannot use a state, not even of the same person, and does not use it up', async () => {
  const query = await begin();
  const stranger = await newOwner(fixture);
  const elsewhere = await signInAgain(fixture.service, ada.person);
  for (const session of [stranger.session, elsewhere]) {
    const refused = await comeBack(session, query);
    expect([refused.status, refused.body.error.code]).toEqual([409, 'attempt_expired']);
  }
  expect((await comeBack(ada.session, query)).status).toBe(200);
  expect(await list(stranger)).toEqual([]);
});

test('a person with many projects comes back without naming one: the sign-in has it', async () => {
  const { organizationId } = ada.person;
  const { data: second } = await ada.session.post('/v1/projects', {
    organizationId,
    name: 'Second',
  });
  const session = ada.session.with({ 'X-Project-Id': second.id });
  const query = await begin(session);
  const { data } = await ada.person.session.get(`${CALLBACK}${query}`);
  expect(data.status).toBe('ready');
  expect(await list()).toEqual([]);
  expect((await session.get('/v1/model-connections')).data).toHaveLength(1);
});

test('a state is over after ten minutes, when its person lacks a factor that is demanded, or has left', async () => {
  const { database } = fixture.service.deps;
  const lacking = await begin();
  const { organizationId } = ada.person;
  await changeOrganizations(database, organizationId, { requiresSecondFactor: true });
  expect((await comeBack(ada.session, lacking)).status).toBe(409);
  await changeOrganizations(database, organizationId, { requiresSecondFactor: false });
  const late = await begin();
  await changeSignIns(database, EVERY, { expiresAt: ago('1 second') });
  expect((await comeBack(ada.session, late)).status).toBe(409);
  const gone = await begin();
  await removeMemberships(database, { userId: ada.person.userId });
  expect((await comeBack(ada.session, gone)).status).toBe(409);
  expect(fixture.authorizationServer.control.tokenRequests).toEqual([]);
});

test.for([
  ['denied by the person', '&error=access_denied&error_description=evil', 403, 'forbidden'],
  ['an error of the provider', '&error=server_error', 502, 'provider_error'],
  ['no code at all', '', 502, 'provider_error'],
  ['the response of another server', '&code=x&iss=https%3A%2F%2Fevil.example', 502, 'provider_error'],
] as const)('%s ends the sign-in in our own words', async ([, query, status, code]) => {
  const { data } = await startOAuth(ada.session);
  const url = new URL(data.authorizationUrl);
  const iss = query.includes('iss=') ? '' : `&iss=${encodeURIComponent(fixture.authorizationServer.issuer)}`;
  const state = url.searchParams.get('state')!;
  const answer = await comeBack(ada.session, `?state=${state}${query}${iss}`);
  expect([answer.status, answer.body.error.code]).toEqual([status, code]);
  expect(answer.body.error.message).not.toContain('evil');
  expect((await comeBack(ada.session, `?state=${state}${query}`)).status).toBe(409);
  expect(fixture.authorizationServer.control.tokenRequests).toEqual([]);
});

test('a response without iss is refused of a server that always sends it', async () => {
  const query = new URLSearchParams(await begin());
  query.delete('iss');
  const answer = await comeBack(ada.session, `?${query.toString()}`);
  expect([answer.status, answer.body.error.code]).toEqual([502, 'provider_error']);
});

test.for(['', '?state=', '?state=x', '?code=y', `?state=${'x'.repeat(201)}`, '?address=nonsense'])(
  'nonsense in the return (%s) is refused',
  async (query) => {
    expect([400, 409]).toContain((await comeBack(ada.session, query)).status);
  },
);

test('nothing is stored when the account cannot be checked, and its tokens are handed back', async () => {
  const { control } = fixture.authorizationServer;
  control.revocationRequests.length = 0;
  fixture.providers.control.answer('/key', 500, {});
  const answer = await comeBack(ada.session, await begin());
  expect([answer.status, answer.body.error.code]).toEqual([502, 'provider_error']);
  expect(await list()).toEqual([]);
  await expect.poll(() => control.revocationRequests).toEqual(['refresh_token']);
});

test('an ID token that is altered, unsigned or for another sign-in proves nothing', async () => {
  const { control } = fixture.authorizationServer;
  const [header, claims] = [
    { alg: 'none' },
    {
      iss: fixture.authorizationServer.issuer,
      sub: 'eve',
      aud: 'fixture-sign-in-client',
      iat: 1,
      exp: 9_999_999_999,
    },
  ].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  for (const idToken of [`${header}.${claims}.`, `${header}.${claims}.AAAA`, 'nonsense']) {
    const query = await begin();
    const body = { access_token: 'stolen-token', token_type: 'Bearer', id_token: idToken };
    control.tokenFaults.push({ status: 200, body: JSON.stringify(body) });
    const answer = await comeBack(ada.session, query);
    expect([answer.status, answer.body.error.code]).toEqual([502, 'provider_error']);
  }
  expect(await list()).toEqual([]);
});

test('the same account again is the same connection; another account is another', async () => {
  const first = await connectByOAuth(fixture, ada.session, { account: 'same' });
  const again = await connectByOAuth(fixture, ada.session, { account: 'same' });
  const other = await connectByOAuth(fixture, ada.session, { account: 'other' });
  expect(again.data.id).toBe(first.data.id);
  expect(other.data.id).not.toBe(first.data.id);
  expect((await storedRow(fixture, first.data.id))['credential_version']).toBe(2);
  // Another person's connection to the same account is a connection of its own.
  const bob = await newOwner(fixture);
  const bobs = await connectByOAuth(fixture, bob.session, { account: 'same' });
  expect(bobs.data.id).not.toBe(first.data.id);
});

test('signing in again keeps the id, and only the same account is taken', async () => {
  const { data } = await connectByOAuth(fixture, ada.session, { account: 'mine' });
  await changeAccounts(fixture.service.deps.database, data.id, {
    state: 'needs_reauthorization',
    publicError: 'authorization_revoked',
  });
  const body = { connectionId: data.id };
  const wrong = await connectByOAuth(fixture, ada.session, { account: 'not-mine', body });
  expect([wrong.status, wrong.body.error.code]).toEqual([409, 'account_mismatch']);
  expect((await list())[0]).toMatchObject({ id: data.id, status: 'needs_reauthorization' });
  const right = await connectByOAuth(fixture, ada.session, { account: 'mine', body });
  expect(right.data).toMatchObject({ id: data.id, status: 'ready', error: null });
});

test('a connection of another person, project or provider is not signed in to again', async () => {
  const device = await connectByDevice(fixture, ada.session);
  const otherKind = await startOAuth(ada.session, { connectionId: device.id });
  expect([otherKind.status, otherKind.body.error.code]).toEqual([400, 'invalid_request']);
  const bob = await newOwner(fixture);
  const foreign = await startOAuth(bob.session, { connectionId: device.id });
  expect([foreign.status, foreign.body.error.code]).toEqual([404, 'connection_not_found']);
});
