import { expect, test } from 'vitest';
import { sweepModelConnections } from '#core/models/connections/index.ts';
import { proves } from '#test/support/proves.ts';
import { signInAgain } from '#test/support/people.ts';
import {
  ada,
  connectByDevice,
  fixture,
  makeDue,
  newColleague,
  newOwner,
  pollDevice,
  pollDue,
  runOut,
  startDevice,
  useModelFixture,
  type OwnSession,
} from './fixture.ts';

useModelFixture();

function cancel({ session }: OwnSession, attemptId: string) {
  return session.post(`/v1/model-connections/provider-a/device/${attemptId}/cancel`);
}
function tokenError(error: string, status = 400) {
  const body = JSON.stringify({ error, error_description: 'secret words of the provider' });
  fixture.authorizationServer.control.tokenFaults.push({ status, body });
}
async function stored(attemptId: string) {
  const found = await fixture.service.deps.database.row<{
    interval: number;
    waitSeconds: number;
    sealed: string | null;
  }>`
    select interval_seconds as interval, sealed,
      extract(epoch from next_poll_at - now())::float8 as "waitSeconds"
    from model_sign_ins where id = ${attemptId}
  `;
  return found!;
}

test('slow_down makes every later interval five seconds longer', async () => {
  const { attemptId } = (await startDevice(ada.session)).data;
  tokenError('slow_down');
  const slowed = await pollDue(fixture, ada.session, attemptId);
  expect(slowed.data).toMatchObject({ state: 'pending', intervalSeconds: 10 });
  expect((await stored(attemptId)).waitSeconds).toBeGreaterThan(8);
  tokenError('slow_down', 200);
  expect((await pollDue(fixture, ada.session, attemptId)).data.intervalSeconds).toBe(15);
  const asked = fixture.authorizationServer.control.tokenRequests.length;
  await pollDevice(ada.session, attemptId);
  expect(fixture.authorizationServer.control.tokenRequests).toHaveLength(asked);
});

test.for([
  ['access_denied', 'denied', null],
  ['expired_token', 'expired', null],
  ['invalid_grant', 'failed', 'provider_refused'],
  ['invalid_client', 'failed', 'provider_refused'],
] as const)('the provider saying %s ends the attempt as %s', async ([error, state, code]) => {
  const { attemptId } = (await startDevice(ada.session)).data;
  tokenError(error);
  const { status, data, body } = await pollDue(fixture, ada.session, attemptId);
  expect(status).toBe(200);
  expect(data).toMatchObject({ state, userCode: null });
  expect(data.error?.code ?? null).toBe(code);
  expect(JSON.stringify(body)).not.toContain('secret words');
  expect((await stored(attemptId)).sealed).toBeNull();
  const asked = fixture.authorizationServer.control.tokenRequests.length;
  expect((await pollDevice(ada.session, attemptId)).data.state).toBe(state);
  expect(fixture.authorizationServer.control.tokenRequests).toHaveLength(asked);
});

test.for([
  [500, '<html>'],
  [200, '{}'],
  [503, '{"error": "temporarily_unavailable"}'],
] as const)('a provider that answers %i %s leaves the attempt pending, to be asked later', async ([status, body]) => {
  const { attemptId, userCode } = (await startDevice(ada.session)).data;
  fixture.authorizationServer.control.tokenFaults.push({ status, body });
  expect((await pollDue(fixture, ada.session, attemptId)).data.state).toBe('pending');
  expect((await stored(attemptId)).waitSeconds).toBeGreaterThan(7);
  await fixture.authorizationServer.control.answerDevice(userCode, 'approve');
  expect((await pollDue(fixture, ada.session, attemptId)).data.state).toBe('succeeded');
});

test(
  'an attempt can be cancelled, and stays so also when the person agrees at the provider',
  proves('POST /v1/model-connections/provider-a/device/:attemptId/cancel'),
  async () => {
    const { attemptId, userCode } = (await startDevice(ada.session)).data;
    const cancelled = await cancel(ada, attemptId);
    expect(cancelled.status).toBe(200);
    expect(cancelled.data).toMatchObject({ state: 'cancelled', userCode: null });
    await fixture.authorizationServer.control.answerDevice(userCode, 'approve');
    expect((await pollDevice(ada.session, attemptId)).data.state).toBe('cancelled');
    expect((await cancel(ada, attemptId)).data.state).toBe('cancelled');
    expect(fixture.authorizationServer.control.tokenRequests).toEqual([]);
    expect((await ada.session.get('/v1/model-connections')).data).toEqual([]);
  },
);

test('one that is cancelled while the provider grants it connects nothing', async () => {
  const { control } = fixture.authorizationServer;
  const { attemptId, userCode } = (await startDevice(ada.session)).data;
  await control.answerDevice(userCode, 'approve');
  await makeDue(fixture, attemptId);
  control.revocationRequests.length = 0;
  const held = control.holdNextToken('after');
  const polling = pollDevice(ada.session, attemptId);
  await held.arrived;
  expect((await cancel(ada, attemptId)).data.state).toBe('cancelled');
  held.release();
  expect((await polling).data.state).toBe('cancelled');
  expect((await ada.session.get('/v1/model-connections')).data).toEqual([]);
  // The unused tokens are revoked.
  await expect.poll(() => control.revocationRequests).toEqual(['refresh_token']);
});

test('starting again replaces the attempt, and of many at once one is left', async () => {
  const first = (await startDevice(ada.session)).data;
  const second = (await startDevice(ada.session)).data;
  expect((await pollDevice(ada.session, first.attemptId)).data.state).toBe('cancelled');
  expect((await pollDevice(ada.session, second.attemptId)).data.state).toBe('pending');
  const started = await Promise.all(Array.from({ length: 6 }, () => startDevice(ada.session)));
  expect(started.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 201));
  const states = await Promise.all(
    started.map(async ({ data }) => (await pollDevice(ada.session, data.attemptId)).data.state),
  );
  expect(states.filter((state) => state === 'pending')).toHaveLength(1);
});

test('a person who starts again and again is asked to wait', async () => {
  for (let turn = 0; turn < 20; turn += 1) {
    expect((await startDevice(ada.session)).status).toBe(201);
  }
  const refused = await startDevice(ada.session);
  expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limited']);
  const wait = Number(refused.headers.get('retry-after'));
  expect(wait).toBeGreaterThan(0);
  expect(wait).toBeLessThanOrEqual(900);
});

test('only who began an attempt may poll or cancel it; to anybody else it is not there', async () => {
  const { attemptId } = (await startDevice(ada.session)).data;
  const stranger = await newOwner(fixture);
  const colleague = await newColleague(fixture, ada.person);
  for (const other of [stranger, colleague]) {
    const polled = await pollDevice(other.session, attemptId);
    expect([polled.status, polled.body.error.code]).toEqual([404, 'attempt_not_found']);
    expect((await cancel(other, attemptId)).status).toBe(404);
  }
  // The same person owns the sign-in in another browser too.
  const elsewhere = await signInAgain(fixture.service, ada.person);
  expect((await pollDevice(elsewhere, attemptId)).data.state).toBe('pending');
  expect((await pollDevice(ada.session, 'att_nonsense')).status).toBe(404);
});

test('an API key cannot act as the owner', async () => {
  const key = await ada.person.key();
  const { attemptId } = (await startDevice(ada.session)).data;
  for (const answer of [
    await startDevice(key),
    await pollDevice(key, attemptId),
    await key.post('/v1/model-connections/provider-c/api-key', { apiKey: 'sk-0123456789' }),
    await key.post('/v1/model-connections/provider-b/oauth/start'),
    await key.get('/v1/model-connections/provider-b/oauth/callback?state=x'),
    await key.post(`/v1/model-connections/mcn_01kx3k9y6wfd8r0v5m2c7t4qaj/revoke`),
  ]) {
    expect([answer.status, answer.body.error.code]).toEqual([403, 'session_required']);
  }
});

test('an attempt runs out, and its code is forgotten', async () => {
  const { attemptId, userCode } = (await startDevice(ada.session)).data;
  await fixture.authorizationServer.control.answerDevice(userCode, 'approve');
  await runOut(fixture, attemptId);
  const polled = await pollDue(fixture, ada.session, attemptId);
  expect(polled.data).toMatchObject({ state: 'expired', userCode: null, verificationUri: null });
  expect(fixture.authorizationServer.control.tokenRequests).toEqual([]);
  const another = (await startDevice(ada.session)).data.attemptId;
  await runOut(fixture, another);
  await sweepModelConnections(fixture.service.deps);
  expect((await stored(another)).sealed).toBeNull();
});

test('tokens that were granted survive a runtime that is away: the next poll goes on from them', async () => {
  const { control } = fixture.authorizationServer;
  const { attemptId, userCode } = (await startDevice(ada.session)).data;
  await control.answerDevice(userCode, 'approve');
  // The check of the token fails, as when the process dies after the provider's answer.
  fixture.providers.control.answer('/key', 500, {});
  const polled = await pollDue(fixture, ada.session, attemptId);
  expect(polled.data).toMatchObject({ state: 'pending', userCode: null });
  expect((await ada.session.get('/v1/model-connections')).data).toEqual([]);
  const ended = await pollDue(fixture, ada.session, attemptId);
  expect(ended.data.state).toBe('succeeded');
  expect(control.tokenRequests).toHaveLength(1);
});

test('a good sign-in without the right to make calls ends as plan_not_entitled, and signing in again mends it', async () => {
  const { control } = fixture.authorizationServer;
  const { attemptId, userCode } = (await startDevice(ada.session)).data;
  control.account = 'unentitled';
  await control.answerDevice(userCode, 'approve');
  fixture.providers.control.answer('/key', 403, { error: 'no plan' });
  const { connectionId } = (await pollDue(fixture, ada.session, attemptId)).data;
  const [listed] = (await ada.session.get('/v1/model-connections')).data;
  expect(listed).toMatchObject({
    id: connectionId,
    status: 'plan_not_entitled',
    error: { code: 'plan_not_entitled' },
    modelCount: 0,
  });
  const models = await ada.session.get(`/v1/model-connections/${connectionId}/models`);
  expect([models.status, models.body.error.code]).toEqual([409, 'connection_not_ready']);
  const again = await connectByDevice(fixture, ada.session, {
    account: 'unentitled',
    body: { connectionId },
  });
  expect(again).toMatchObject({ id: connectionId, status: 'ready', error: null, modelCount: 3 });
});
