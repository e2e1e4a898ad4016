import { beforeEach, expect, test } from 'vitest';
import { createModelCredentials, type ModelCredentials } from '#core/models/connections/index.ts';
import { sql } from '#lib/database/index.ts';
import {
  ada,
  connectByDevice,
  connectByOAuth,
  connectionOf,
  connectWithKey,
  fixture,
  goodKey,
  newOwner,
  storedRow,
  useModelFixture,
} from './fixture.ts';
import { ago, ahead, changeAccounts } from '#test/support/given.ts';

useModelFixture();

let id: string;
beforeEach(async () => {
  id = (await connectByDevice(fixture, ada.session)).id;
  const { control } = fixture.authorizationServer;
  control.tokenFaults.length = 0;
  control.tokenRequests.length = 0;
});

const signal = new AbortController().signal;
function ref() {
  return { id, projectId: ada.person.projectId };
}
/** Creates credentials as another process has them, with nothing in memory. */
function another(): ModelCredentials {
  return createModelCredentials(fixture.service.deps);
}
function forCall(credentials = another(), seconds = 60) {
  return credentials.forCall(ref(), { deadline: Date.now() + seconds * 1_000, signal });
}
async function expireIn(seconds: number) {
  await changeAccounts(fixture.service.deps.database, id, {
    credentialExpiresAt: ahead(`${seconds} seconds`),
  });
}
function fault(status: number, body: string) {
  fixture.authorizationServer.control.tokenFaults.push({ status, body });
}

test('a token that outlasts the call by a minute is used as it is', async () => {
  await expireIn(200);
  const used = await forCall(another(), 60);
  expect(used.version).toBe(1);
  expect(fixture.authorizationServer.control.tokenRequests).toEqual([]);
  // A longer call needs a newer token.
  expect((await forCall(another(), 600)).version).toBe(2);
});

test('twenty workers at the expiry of a rotating token make one renewal', async () => {
  await expireIn(10);
  const { control } = fixture.authorizationServer;
  control.tokenDelayMs = 300;
  const given = await Promise.all(Array.from({ length: 20 }, () => forCall()));
  expect(control.tokenRequests).toEqual(['refresh_token']);
  expect(new Set(given.map(({ credential }) => credential.value)).size).toBe(1);
  expect(given.every(({ version }) => version === 2)).toBe(true);
  expect(await fixture.authorizationServer.accessToken(given[0]!.credential.value)).toBeDefined();
  // The rotated refresh token was stored, so it can be used for the next renewal.
  await expireIn(10);
  expect((await forCall()).version).toBe(3);
});

test('a refused renewal is needs_reauthorization, and is not requested again', async () => {
  const { control } = fixture.authorizationServer;
  await expireIn(-5);
  await control.revokeAll();
  const failures = await Promise.allSettled(Array.from({ length: 5 }, () => forCall()));
  for (const each of failures) {
    expect(each).toMatchObject({ status: 'rejected', reason: { code: 'connection_not_ready' } });
  }
  expect(control.tokenRequests).toHaveLength(1);
  expect(await connectionOf(ada.session, id)).toMatchObject({
    status: 'needs_reauthorization',
    error: { code: 'authorization_expired' },
  });
  await expect(forCall()).rejects.toMatchObject({ code: 'connection_not_ready' });
  expect(control.tokenRequests).toHaveLength(1);
  // Only the owner can repair the account, and gets one mail.
  const mails = await fixture.service.deps.database
    .rows`select kind, user_id, state from outbox where project_id = ${ada.person.projectId}`;
  expect(mails).toEqual([{ kind: 'model_connection', user_id: ada.person.userId, state: 'pending' }]);
});

test.for([
  [500, '{}'],
  [502, '<html>'],
  [200, 'cut of'],
] as const)(
  'a renewal whose outcome is unknown (%i %s) is never sent again: a later refusal ends it, once',
  async ([status, body]) => {
    const { control } = fixture.authorizationServer;
    await expireIn(10);
    fault(status, body);
    const used = await forCall();
    expect(used.version).toBe(1);
    expect((await forCall()).version).toBe(1);
    expect(control.tokenRequests).toHaveLength(1);
    expect((await connectionOf(ada.session, id)).status).toBe('ready');
    expect(await another().refused(ref(), 1, signal)).toBeUndefined();
    expect(control.tokenRequests).toHaveLength(1);
    expect(await connectionOf(ada.session, id)).toMatchObject({
      status: 'needs_reauthorization',
      error: { code: 'authorization_revoked' },
    });
    expect(await another().refused(ref(), 1, signal)).toBeUndefined();
  },
);

test('callers that waited for a renewal with an unknown outcome do not send it again', async () => {
  const { control } = fixture.authorizationServer;
  await expireIn(10);
  control.tokenDelayMs = 500;
  fault(500, '{}');
  const given = await Promise.all(Array.from({ length: 8 }, () => forCall()));
  expect(given.map(({ version }) => version)).toEqual(Array.from({ length: 8 }, () => 1));
  expect(control.tokenRequests).toEqual(['faulty']);
});

test('a process that dies between sending and storing leaves a token that is not sent again', async () => {
  await expireIn(10);
  // A renewal that died leaves these columns in the row.
  await changeAccounts(fixture.service.deps.database, id, {
    renewalLease: 'dead',
    renewalSentVersion: sql`credential_version`,
    renewalLeasedUntil: ago('1 second'),
  });
  expect((await forCall()).version).toBe(1);
  expect(fixture.authorizationServer.control.tokenRequests).toEqual([]);
});

test('a provider that says it is overloaded has not renewed, and is asked again', async () => {
  await expireIn(10);
  fault(503, '{"error": "temporarily_unavailable"}');
  expect((await forCall()).version).toBe(1);
  expect((await forCall()).version).toBe(2);
  await expireIn(-5);
  fault(503, '');
  await expect(forCall()).rejects.toMatchObject({ code: 'provider_error' });
  expect((await forCall()).version).toBe(3);
});

test('a credential that the provider refuses is renewed once by force; the next refusal of the old one is answered by the new', async () => {
  const { control } = fixture.authorizationServer;
  const renewed = await another().refused(ref(), 1, signal);
  expect(renewed?.version).toBe(2);
  expect((await another().refused(ref(), 1, signal))?.version).toBe(2);
  expect(control.tokenRequests).toEqual(['refresh_token']);
});

test('a key that is refused needs a person', async () => {
  id = (await connectWithKey(ada.session, goodKey(fixture))).data.id;
  expect((await forCall()).credential.account).toBeNull();
  expect(await another().refused(ref(), 1, signal)).toBeUndefined();
  expect(await connectionOf(ada.session, id)).toMatchObject({
    status: 'needs_reauthorization',
    error: { code: 'credential_rejected' },
  });
});

test('an account revoked while it is renewed gets no new credential', async () => {
  const { control } = fixture.authorizationServer;
  await expireIn(10);
  const held = control.holdNextToken('before');
  const renewing = forCall();
  await held.arrived;
  await ada.session.post(`/v1/model-connections/${id}/revoke`);
  held.release();
  await expect(renewing).rejects.toMatchObject({ code: 'connection_not_ready' });
  expect((await storedRow(fixture, id))['credential']).toBeNull();
});

test('no other project gets a credential', async () => {
  const bob = await newOwner(fixture);
  const foreign = { id, projectId: bob.person.projectId };
  await expect(another().forCall(foreign, { deadline: Date.now(), signal })).rejects.toMatchObject({
    code: 'connection_not_found',
  });
});

test('a renewal whose callers have left still stores its tokens', async () => {
  const controller = new AbortController();
  const { control } = fixture.authorizationServer;
  id = (await connectByOAuth(fixture, ada.session)).data.id;
  control.tokenRequests.length = 0;
  await expireIn(10);
  const held = control.holdNextToken('before');
  const waiting = another().forCall(ref(), { deadline: Date.now(), signal: controller.signal });
  await held.arrived;
  controller.abort(new Error('gone'));
  await expect(waiting).rejects.toThrow('gone');
  held.release();
  await expect.poll(async () => (await storedRow(fixture, id))['credential_version']).toBe(2);
});
