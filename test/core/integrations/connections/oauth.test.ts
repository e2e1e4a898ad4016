import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { signUp, signInAgain, type Person } from '#test/support/people.ts';
import {
  CLIENT_SECRET,
  signIn,
  startSignInFixture,
  storedGrant,
  UI_ORIGIN,
  visit,
  type SignInFixture,
} from './sign-in-fixture.ts';
import { ageCounts, changeOrganizations } from '#test/support/given.ts';
import { proves } from '#test/support/proves.ts';
import { EVERY, ago, changeFlows, removeMemberships } from '#test/support/given.ts';

let fixture: SignInFixture;
let person: Person;

beforeAll(async () => {
  fixture = await startSignInFixture();
  person = await signUp(fixture.service);
});
afterAll(() => fixture.close());
beforeEach(async () => {
  fixture.authorizationServer.control.answer = 'approve';
  await ageCounts(fixture.service.deps.database, 'sign-in-start', '1 hour');
});

function start(session = person.session, provider = 'fixture', body = {}) {
  return session.post(`/v1/connections/oauth/${provider}/start`, body);
}
function comeBack(query: string, session = person.session, provider = 'fixture') {
  return session.get(`/oauth/callback/${provider}${query}`);
}

test(
  'signing in makes a ready connection that is named after the account',
  proves('POST /v1/connections/oauth/:provider/start', 'GET /oauth/callback/:provider'),
  async () => {
    const { status, data } = await signIn(person.session, 'fixture');
    expect(status).toBe(200);
    expect(data).toMatchObject({
      kind: 'managed',
      provider: 'fixture',
      name: 'Fixture',
      auth: 'oauth',
      state: 'ready',
      error: null,
      accountLabel: 'https://shop.example/ and 1 more',
    });
    expect(data.scopes.toSorted()).toEqual(['offline_access', 'tools']);
    const accounts = await person.session.get(`/v1/connections/${data.id}/accounts`);
    expect(accounts.data).toEqual([
      { id: 'site-1', name: 'https://shop.example/' },
      { id: 'site-2', name: 'https://blog.example/' },
    ]);
  },
);

test('the authorization request has PKCE, a long state, our return address, and nothing of the caller', async () => {
  const { data } = await start(person.session, 'fixture', { name: 'Mine' });
  const query = new URL(data.authorizationUrl).searchParams;
  expect(data.redirectUri).toBe(`${UI_ORIGIN}/oauth/callback/fixture`);
  expect(Object.fromEntries(query)).toMatchObject({
    response_type: 'code',
    client_id: 'fixture-client',
    code_challenge_method: 'S256',
    redirect_uri: data.redirectUri,
    prompt: 'consent',
  });
  expect(query.get('state')).toMatch(/^[\w-]{43}$/);
  expect(query.get('code_challenge')).toMatch(/^[\w-]{43}$/);
  const tenMinutes = Date.parse(data.expiresAt) - Date.now();
  expect(tenMinutes).toBeGreaterThan(9 * 60_000);
  expect(tenMinutes).toBeLessThan(11 * 60_000);

  const refused = await start(person.session, 'fixture', { redirectUri: 'https://evil.example/' });
  expect(refused.status).toBe(400);
});

test('only the hash of a state and the id of the session are stored, and the verifier sealed', async () => {
  const { data } = await start();
  const state = new URL(data.authorizationUrl).searchParams.get('state')!;
  const stored = await fixture.service.deps.database.rows<{
    text: string;
  }>`select oauth_flows::text as text from oauth_flows`;
  const text = stored.map((row) => row.text).join();
  expect(text).toContain('v1.');
  expect(text).not.toContain(state);
  const [session] = await fixture.service.deps.database.rows<{
    id: string;
    token: string;
  }>`select id, token from sessions where user_id = ${person.userId}`;
  expect(text).toContain(session!.id);
  expect(text).not.toContain(session!.token);
});

test('a state is redeemed once, and the same return again leads to the connection that it made', async () => {
  const before = (await person.session.get('/v1/connections')).data.length;
  const { data } = await start();
  const query = await visit(data.authorizationUrl);
  const first = await comeBack(query);
  const again = await comeBack(query);
  expect([first.status, again.status]).toEqual([200, 200]);
  expect(again.data).toEqual(first.data);
  expect((await person.session.get('/v1/connections')).data.length).toBe(before + 1);
});

test('five returns with one state at the same time lead to the one connection that they make', async () => {
  const before = (await person.session.get('/v1/connections')).data.length;
  const { data } = await start();
  const query = await visit(data.authorizationUrl);
  const answers = await Promise.all(Array.from({ length: 5 }, () => comeBack(query)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  expect(new Set(answers.map((answer) => answer.data.id)).size).toBe(1);
  expect((await person.session.get('/v1/connections')).data.length).toBe(before + 1);
});

test('a return that failed is over: opened again it leads to no connection', async () => {
  const { data } = await start();
  const query = await visit(data.authorizationUrl);
  const wrong = new URLSearchParams(query);
  wrong.set('code', 'unknown');
  expect((await comeBack(`?${wrong.toString()}`)).status).toBe(502);
  expect((await comeBack(query)).body.error.code).toBe('attempt_expired');
});

test.for(['Sec-Purpose', 'Purpose'])('a return that is fetched ahead (%s) uses nothing up', async (header) => {
  const { data } = await start();
  const query = await visit(data.authorizationUrl);
  const ahead = await person.session.with({ [header]: 'prefetch;prerender' }).get(`/oauth/callback/fixture${query}`);
  expect(ahead.status).toBe(204);
  expect((await comeBack(query)).status).toBe(200);
});

test("another person's session cannot use a state, and does not use it up", async () => {
  const other = await signUp(fixture.service);
  const { data } = await start();
  const query = await visit(data.authorizationUrl);
  const stolen = await comeBack(query, other.session);
  expect(stolen.status).toBe(409);
  expect((await other.session.get('/v1/connections')).data).toEqual([]);
  expect((await comeBack(query)).status).toBe(200);
});

test('another session of the same person cannot use a state either, and does not use it up', async () => {
  const { data } = await start();
  const query = await visit(data.authorizationUrl);
  const elsewhere = await signInAgain(fixture.service, person);
  expect((await elsewhere.get('/v1/connections')).status).toBe(200);
  const stolen = await comeBack(query, elsewhere);
  expect(stolen.status).toBe(409);
  expect(stolen.body.error.code).toBe('attempt_expired');
  expect((await comeBack(query)).status).toBe(200);
});

test('a state is over with its session', async () => {
  const elsewhere = await signInAgain(fixture.service, person);
  const { data } = await start(elsewhere);
  const query = await visit(data.authorizationUrl);
  expect((await elsewhere.post('/auth/sign-out')).status).toBe(200);
  expect((await comeBack(query, elsewhere)).status).toBe(401);
  expect((await comeBack(query)).status).toBe(409);
});

test('a state is for one provider', async () => {
  const { data } = await start();
  const query = await visit(data.authorizationUrl);
  expect((await comeBack(query, person.session, 'fixture-other')).status).toBe(409);
  // A state that arrives at the wrong address is used up.
  expect((await comeBack(query)).status).toBe(409);
});

test('the connection is made in the project where the sign-in began, also when another is selected at the end', async () => {
  const { data: second } = await person.session.post('/v1/projects', {
    organizationId: person.organizationId,
    name: 'Second',
  });
  const inSecond = person.session.with({ 'X-Project-Id': second.id });
  const inFirst = person.session.with({ 'X-Project-Id': person.projectId });
  const { data } = await start(inSecond);
  const query = await visit(data.authorizationUrl);
  const done = await comeBack(query, inFirst);
  expect(done.status).toBe(200);
  const ids = async (session: typeof inFirst) =>
    (await session.get('/v1/connections')).data.map((each: { id: string }) => each.id);
  expect(await ids(inSecond)).toContain(done.data.id);
  expect(await ids(inFirst)).not.toContain(done.data.id);

  const foreign = await start(inFirst, 'fixture', { connectionId: done.data.id });
  expect(foreign.status).toBe(404);
  expect(foreign.body.error.code).toBe('connection_not_found');
  person = { ...person, session: inFirst };
});

test('a person who has left the project cannot end a sign-in to it', async () => {
  const leaver = await signUp(fixture.service);
  const { data } = await start(leaver.session);
  const query = await visit(data.authorizationUrl);
  await removeMemberships(fixture.service.deps.database, { userId: leaver.userId });
  expect((await comeBack(query, leaver.session)).status).toBe(409);
});

test('a person who lacks a second factor that is demanded meanwhile cannot end a sign-in', async () => {
  const lacking = await signUp(fixture.service);
  const { data } = await start(lacking.session);
  const query = await visit(data.authorizationUrl);
  const { database } = fixture.service.deps;
  await changeOrganizations(database, lacking.organizationId, { requiresSecondFactor: true });
  expect((await comeBack(query, lacking.session)).status).toBe(409);
});

test('a state is good for ten minutes', async () => {
  const { data } = await start();
  const query = await visit(data.authorizationUrl);
  await changeFlows(fixture.service.deps.database, EVERY, { expiresAt: ago('1 second') });
  const late = await comeBack(query);
  expect(late.status).toBe(409);
  expect(late.body.error.message).toBe('This sign-in has ended or was not started here; start it again.');
});

test('a provider that says no is reported in our words', async () => {
  fixture.authorizationServer.control.answer = 'deny';
  const { data } = await start();
  const query = await visit(data.authorizationUrl);
  expect(query).toContain('error=access_denied');
  const denied = await comeBack(query);
  expect(denied.status).toBe(403);
  expect(denied.body.error).toEqual({
    code: 'forbidden',
    message: 'Access was not granted at the provider.',
  });
});

test('what the address says of an error is never repeated', async () => {
  const { data } = await start();
  const state = new URL(data.authorizationUrl).searchParams.get('state')!;
  const faked = await comeBack(
    `?state=${state}&error=server_error&error_description=${encodeURIComponent('<b>call 555-0100</b>')}`,
  );
  expect(faked.status).toBe(502);
  expect(JSON.stringify(faked.body)).not.toContain('555-0100');
});

test('a response of another issuer is not redeemed', async () => {
  const { data } = await start();
  const query = new URLSearchParams(await visit(data.authorizationUrl));
  query.set('iss', 'https://other-issuer.example');
  const requests = fixture.authorizationServer.control.tokenRequests.length;
  const mixedUp = await comeBack(`?${query.toString()}`);
  expect(mixedUp.status).toBe(502);
  expect(fixture.authorizationServer.control.tokenRequests.length).toBe(requests);
});

test('a code that the provider does not know is refused', async () => {
  const { data } = await start();
  const query = new URLSearchParams(await visit(data.authorizationUrl));
  query.set('code', 'not-a-code');
  const refused = await comeBack(`?${query.toString()}`);
  expect(refused.status).toBe(502);
  expect(refused.body.error.message).toBe('The provider did not complete the sign-in; start it again.');
});

test.each([
  [500, '<h1>broken canary</h1>'],
  [200, 'not json canary'],
  [200, '{"token_type":"bearer"}'],
  [200, '{"access_token":"with space\\n","token_type":"bearer"}'],
  [400, '{"error":"invalid_request","error_description":"secret canary"}'],
  [302, ''],
])('a token endpoint that answers %i %s ends the sign-in with a fixed text', async (status, body) => {
  const { data } = await start();
  const query = await visit(data.authorizationUrl);
  fixture.authorizationServer.control.tokenFaults.push({ status, body });
  const failed = await comeBack(query);
  expect(failed.status).toBe(502);
  expect(failed.body.error).toEqual({
    code: 'provider_error',
    message: 'The provider did not complete the sign-in; start it again.',
  });
});

test('signing in again renews the same connection', async () => {
  const first = await signIn(person.session, 'fixture');
  const { id } = first.data;
  await fixture.authorizationServer.control.revokeAll();
  const refused = await person.session.get(`/v1/connections/${id}/accounts`);
  expect(refused.status).toBe(409);
  const again = await signIn(person.session, 'fixture', { connectionId: id });
  expect(again.data).toMatchObject({ id, state: 'ready', error: null });
  expect((await person.session.get(`/v1/connections/${id}/accounts`)).status).toBe(200);

  const elsewhere = await start(person.session, 'fixture-other', { connectionId: id });
  expect(elsewhere.status).toBe(400);
});

test('only a signed-in person can begin or end a sign-in', async () => {
  const key = await person.key();
  expect((await start(key)).body.error.code).toBe('session_required');
  expect((await comeBack('?state=x&code=y', key)).body.error.code).toBe('session_required');
  expect((await comeBack('?state=x&code=y', fixture.service.anonymous)).status).toBe(401);
  const noOrigin = person.session.with({ Origin: 'https://evil.example' });
  expect((await start(noOrigin)).body.error.code).toBe('origin_not_allowed');
});

test('an unknown provider, one that is not configured, and one that takes keys cannot be signed in to', async () => {
  expect((await start(person.session, 'unknown')).body.error.code).toBe('provider_not_found');
  expect((await start(person.session, 'github')).body.error.code).toBe('provider_disabled');
  expect((await start(person.session, 'fixture-key')).body.error.code).toBe('invalid_request');
});

test('tokens and client secret are in no response and sealed in the database', async () => {
  const { data } = await signIn(person.session, 'fixture');
  const answers = await Promise.all([
    person.session.get('/v1/connections'),
    person.session.get('/v1/connections/providers'),
    person.session.get(`/v1/connections/${data.id}/accounts`),
  ]);
  const [stored] = await fixture.service.deps.database.rows<{
    text: string;
  }>`select connections::text as text from connections where id = ${data.id}`;
  const opened = await storedGrant(fixture.service, data.id);
  const seen = JSON.stringify([data, answers.map(({ body }) => body), stored]);
  for (const secret of [opened.accessToken, opened.refreshToken, CLIENT_SECRET]) {
    expect(secret.length).toBeGreaterThan(20);
    expect(seen).not.toContain(secret);
  }
});

test('a person begins at most twenty sign-ins in a quarter of an hour, at all providers together', async () => {
  const [busy, calm] = [await signUp(fixture.service), await signUp(fixture.service)];
  for (let time = 0; time < 20; time += 1) expect((await start(busy.session)).status).toBe(200);
  const refused = await start(busy.session, 'fixture-other');
  expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limited']);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(60);
  expect((await start(calm.session)).status).toBe(200);
});
