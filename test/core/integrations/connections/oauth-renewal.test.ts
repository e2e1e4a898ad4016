import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { readConnection } from '#core/integrations/connections/index.ts';
import { createOAuthSource } from '#core/integrations/connections/oauth/source.ts';
import { ageCounts, changeConnections } from '#test/support/given.ts';
import { signUp, type Person } from '#test/support/people.ts';
import {
  expireIn as expiresIn,
  signIn,
  startSignInFixture,
  storedGrant,
  type SignInFixture,
} from './sign-in-fixture.ts';

let fixture: SignInFixture;
let person: Person;
let id: string;

beforeAll(async () => {
  fixture = await startSignInFixture();
  person = await signUp(fixture.service);
});
afterAll(() => fixture.close());
beforeEach(async () => {
  await ageCounts(fixture.service.deps.database, 'sign-in-start', '1 hour');
  id = (await signIn(person.session, 'fixture')).data.id;
  control().tokenRequests.length = 0;
  control().revocationRequests.length = 0;
});
afterEach(() => {
  control().tokenDelayMs = 0;
  control().tokenFaults.length = 0;
});

function control() {
  return fixture.authorizationServer.control;
}
function accounts() {
  return person.session.get(`/v1/connections/${id}/accounts`);
}
function connection() {
  return readConnection(fixture.service.deps.database, person.projectId, id);
}
function never() {
  return new AbortController().signal;
}

function expireIn(seconds: number) {
  return expiresIn(fixture.service, id, seconds);
}
function grant() {
  return storedGrant(fixture.service, id);
}

test('ten callers in five instances renew a token once, and all get the new one', async () => {
  const { deps } = fixture.service;
  const old = await grant();
  await expireIn(30);
  control().tokenDelayMs = 300;
  const sources = Array.from({ length: 5 }, () => createOAuthSource(deps));
  const named = await connection();
  const headers = await Promise.all([...sources, ...sources].map((source) => source.headers(named, never())));
  expect(control().tokenRequests).toEqual(['refresh_token']);
  const renewed = await grant();
  expect(renewed.accessToken).not.toBe(old.accessToken);
  expect(new Set(headers.map((each) => each['authorization']))).toEqual(new Set([`Bearer ${renewed.accessToken}`]));
});

test('ten requests to two replicas renew a token once', async () => {
  const replica = await fixture.service.replica();
  try {
    await expireIn(-5);
    control().tokenDelayMs = 200;
    const urls = [fixture.service.url, replica.url];
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        fetch(`${urls[index % 2]}/v1/connections/${id}/accounts`, {
          headers: { ...person.session.headers },
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(control().tokenRequests).toEqual(['refresh_token']);
  } finally {
    await replica.close();
  }
});

test('the refresh token rotates and the new one is the one used next', async () => {
  const seen = new Set<string>();
  for (let round = 0; round < 3; round++) {
    seen.add((await grant()).refreshToken);
    await expireIn(1);
    expect((await accounts()).status).toBe(200);
  }
  expect(seen.size).toBe(3);
  expect(control().tokenRequests).toEqual(Array(3).fill('refresh_token'));
});

test('a token with more than a minute left is not renewed', async () => {
  await expireIn(90);
  expect((await accounts()).status).toBe(200);
  expect(control().tokenRequests).toEqual([]);
});

test('a revoked grant wants a new sign-in, says so in fixed words, and is not tried again', async () => {
  await control().revokeAll();
  await expireIn(-5);
  const refused = await accounts();
  expect(refused.status).toBe(409);
  expect(refused.body.error).toEqual({
    code: 'connection_not_ready',
    message: 'The connection is not ready.',
  });
  const { data } = await person.session.get('/v1/connections');
  expect(data.find((each: { id: string }) => each.id === id)).toMatchObject({
    state: 'needs_reauthorization',
    error: {
      code: 'authorization_expired',
      message: 'The sign-in has expired and could not be renewed; connect again.',
    },
  });
  expect((await accounts()).status).toBe(409);
  expect(control().tokenRequests).toEqual(['refresh_token']);
});

test('a provider that is away for a moment costs nothing while the old token is good', async () => {
  await expireIn(30);
  control().tokenFaults.push({ status: 503, body: 'canary away' });
  expect((await accounts()).status).toBe(200);
  expect((await connection()).state).toBe('ready');
  expect((await accounts()).status).toBe(200);
  expect(control().tokenRequests).toEqual(['faulty', 'refresh_token']);
});

test('a provider that is away when the token is over is an error that passes', async () => {
  await expireIn(-5);
  control().tokenFaults.push({ status: 503, body: 'canary away' });
  const away = await accounts();
  expect(away.status).toBe(502);
  expect(away.body.error.message).toBe('The sign-in could not be renewed just now; try again.');
  expect((await connection()).state).toBe('ready');
  expect((await accounts()).status).toBe(200);
});

test.each(['temporarily_unavailable', 'slow_down', 'constructor', '__proto__'])(
  'the error %s of a token endpoint is no refusal of the grant',
  async (error) => {
    await expireIn(-5);
    const fault = { status: 400, body: JSON.stringify({ error }) };
    // After a refusal the service repeats the request once with the granted scope.
    control().tokenFaults.push(fault, fault);
    expect((await accounts()).status).toBe(502);
    expect((await connection()).state).toBe('ready');
  },
);

test.each([
  ['invalid_client', 'authorization_expired'],
  ['unauthorized_client', 'authorization_expired'],
])('the error %s of a token endpoint wants a new sign-in', async (error, code) => {
  await expireIn(-5);
  control().tokenFaults.push({ status: 401, body: JSON.stringify({ error }) });
  expect((await accounts()).status).toBe(409);
  expect((await connection()).publicError).toBe(code);
});

test('an access token that the provider stops taking early is renewed on the spot', async () => {
  await control().revokeAccessTokens();
  expect((await accounts()).status).toBe(200);
  expect(control().tokenRequests).toEqual(['refresh_token']);
});

test('a provider that refuses a token which it has just renewed wants a new sign-in', async () => {
  await control().revokeAccessTokens();
  const held = control().holdNextToken('after');
  const refused = accounts();
  await held.arrived;
  await control().revokeAccessTokens();
  held.release();
  expect((await refused).status).toBe(409);
  expect(await connection()).toMatchObject({
    state: 'needs_reauthorization',
    publicError: 'authorization_revoked',
  });
  expect(control().tokenRequests).toEqual(['refresh_token']);
});

test('who finds the lease taken by a process that died waits for its end and renews then', async () => {
  await expireIn(-5);
  const renewalLeasedUntil = new Date(Date.now() + 1_000);
  const lease = { renewalLease: 'of a dead process', renewalLeasedUntil };
  await changeConnections(fixture.service.deps.database, id, lease);
  expect((await accounts()).status).toBe(200);
  expect(Date.now()).toBeGreaterThanOrEqual(renewalLeasedUntil.getTime());
  expect(control().tokenRequests).toEqual(['refresh_token']);
});

test('a caller who gives up does not lose the rotated token', async () => {
  const source = createOAuthSource(fixture.service.deps);
  await expireIn(-5);
  const held = control().holdNextToken('before');
  const old = await grant();
  const caller = new AbortController();
  const waiting = source.headers(await connection(), caller.signal);
  await held.arrived;
  caller.abort(new Error('gave up'));
  await expect(waiting).rejects.toThrow();
  held.release();
  await expect.poll(async () => (await grant()).refreshToken).not.toBe(old.refreshToken);
  expect((await accounts()).status).toBe(200);
  expect(control().tokenRequests).toEqual(['refresh_token']);
});

test('a connection that is deleted during a renewal stays deleted', async () => {
  await expireIn(-5);
  const held = control().holdNextToken('before');
  const late = accounts();
  await held.arrived;
  expect((await person.session.delete(`/v1/connections/${id}`)).status).toBe(200);
  await expect.poll(() => control().revocationRequests).toEqual(['refresh_token']);
  held.release();
  expect((await late).status).toBe(404);
  expect(control().revocationRequests).toEqual(['refresh_token']);
});

test('what a renewal brings for a connection that was deleted meanwhile is handed back as well', async () => {
  await expireIn(-5);
  const held = control().holdNextToken('after');
  const late = accounts();
  await held.arrived;
  expect((await person.session.delete(`/v1/connections/${id}`)).status).toBe(200);
  held.release();
  expect((await late).status).toBe(404);
  await expect.poll(() => control().revocationRequests).toEqual(['refresh_token', 'refresh_token']);
});

test('a new sign-in during a renewal wins over it', async () => {
  await expireIn(-5);
  const held = control().holdNextToken('before');
  const late = accounts();
  await held.arrived;
  await signIn(person.session, 'fixture', { connectionId: id });
  const signedIn = await grant();
  held.release();
  expect((await late).status).toBe(200);
  expect(await grant()).toEqual(signedIn);
});

test('fifty callers with two database connections wait for one renewal and not for each other', async () => {
  const small = await startSignInFixture({ env: { DATABASE_POOL_SIZE: '2' } });
  try {
    const caller = await signUp(small.service);
    const { data } = await signIn(caller.session, 'fixture');
    await expiresIn(small.service, data.id, 0);
    small.authorizationServer.control.tokenRequests.length = 0;
    small.authorizationServer.control.tokenDelayMs = 300;
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => caller.session.get(`/v1/connections/${data.id}/accounts`)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(small.authorizationServer.control.tokenRequests).toEqual(['refresh_token']);
  } finally {
    await small.close();
  }
});
