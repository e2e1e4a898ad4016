import { expect, test } from 'vitest';
import { readConnection } from '#core/integrations/connections/index.ts';
import { createOAuthSource } from '#core/integrations/connections/oauth/source.ts';
import type { CredentialSource } from '#core/integrations/connections/store/credential-source.ts';
import { json, refuses, renewed } from '#dev/fakes/odd-authorization-server/answers.ts';
import { changeConnections, changeRuns, ahead, ago, refusedEarlier } from '#test/support/given.ts';
import { runEnded } from '#test/support/routines.ts';
import { toolSteps } from '#test/core/integrations/tools/support.ts';
import { expireIn } from '#test/core/integrations/connections/sign-in-fixture.ts';
import {
  connectedTo,
  discover,
  oddServer,
  person,
  publicError,
  routineOn,
  service,
  signInAt,
  useOddWorld,
} from './world.ts';
import { FULL_SIZE } from '#test/support/properties.ts';

useOddWorld();

const REFUSES = { refreshes: [refuses(json({ error: 'invalid_request' }, 400))] };

/** Makes the token due for renewal before it expires. */
function makeDue(id: string) {
  return expireIn(service, id, 30);
}
function refusedBefore(id: string, interval: string) {
  return changeConnections(service.deps.database, id, { renewalRefusals: refusedEarlier(interval) });
}

test('a token that still works is used on, and the refusing server is not asked before each request', async () => {
  const { server, id } = await connectedTo(REFUSES);
  const { routineId, run } = await routineOn(id);
  await makeDue(id);
  expect((await discover(routineId, id)).status).toBe(200);
  expect(await run()).toMatchObject({ state: 'succeeded', outcome: 'done' });
  // The service asked once without the scope, and once with it.
  expect(server.refreshes.map((each) => each.get('scope'))).toEqual([null, 'tools']);
  expect(await publicError(id)).toBe('ready');
});

test('three refusals with the same answer end a sign-in whose token still works, once ten minutes have passed', async () => {
  const { id } = await connectedTo(REFUSES);
  const { routineId } = await routineOn(id);
  const use = async () => {
    await makeDue(id);
    return (await discover(routineId, id)).status;
  };
  for (const interval of ['2 minutes', '2 minutes', '2 minutes', '3 minutes']) {
    expect(await use()).toBe(200);
    expect(await publicError(id)).toBe('ready');
    await refusedBefore(id, interval);
  }
  await refusedBefore(id, '2 minutes');
  expect(await use()).toBe(409);
  expect(await publicError(id)).toBe('authorization_revoked');
});

test('another answer, or new tokens, begin the count of refusals afresh', async () => {
  const { id } = await connectedTo({
    refreshes: [
      ...Array.from({ length: 4 }, () => refuses(json({ error: 'invalid_request' }, 400))),
      ...Array.from({ length: 2 }, () => refuses(json({ error: 'access_denied' }, 403))),
      renewed(),
      refuses(json({ error: 'access_denied' }, 403)),
    ],
  });
  const { routineId } = await routineOn(id);
  const use = async () => {
    await makeDue(id);
    const { status } = await discover(routineId, id);
    await refusedBefore(id, '11 minutes');
    return status;
  };
  // The answers are invalid_request twice, access_denied, tokens, and access_denied twice.
  for (let round = 0; round < 6; round += 1) expect(await use()).toBe(200);
  expect(await publicError(id)).toBe('ready');
  expect(await use()).toBe(409);
});

test('one discovery brings one refusal upon an expired token, and the next one ends its sign-in', async () => {
  const { server, id } = await connectedTo(REFUSES);
  const { routineId } = await routineOn(id);
  await expireIn(service, id, -5);
  expect((await discover(routineId, id)).status).toBe(502);
  expect(server.refreshes).toHaveLength(2);
  expect(await publicError(id)).toBe('ready');
  expect((await discover(routineId, id)).status).toBe(409);
  expect(await publicError(id)).toBe('authorization_revoked');
});

/**
 * Asks for the headers of a connection in two processes at once, which share nothing in memory.
 * @param refused the headers that the tool server has refused in both
 */
async function inTwoProcesses(id: string, refused?: Readonly<Record<string, string>>) {
  const { deps } = service;
  const connection = await readConnection(deps.database, person.projectId, id);
  const sources = [createOAuthSource(deps), createOAuthSource(deps)];
  const { signal } = new AbortController();
  const ask = (source: CredentialSource) =>
    refused === undefined ? source.headers(connection, signal) : source.refused(connection, refused, signal);
  return Promise.allSettled(sources.map(ask));
}

test.runIf(FULL_SIZE)(
  'two processes that renew while the server is slow to refuse bring one refusal upon the sign-in',
  async () => {
    const { server, id } = await connectedTo(REFUSES);
    await expireIn(service, id, -5);
    server.delayMs = 600;
    for (const each of await inTwoProcesses(id)) {
      expect(each).toMatchObject({ status: 'rejected', reason: { code: 'provider_error', isRefusal: true } });
    }
    expect(server.refreshes).toHaveLength(2);
    expect(await publicError(id)).toBe('ready');
  },
);

test('two processes that renew at once while the server is slow rotate the tokens once', async () => {
  const { server, id } = await connectedTo({});
  await expireIn(service, id, -5);
  server.delayMs = 1_500;
  const [one, other] = await inTwoProcesses(id);
  expect(one).toMatchObject({
    status: 'fulfilled',
    value: { authorization: expect.stringMatching(/^Bearer access-/) },
  });
  expect(other).toEqual(one);
  expect(server.refreshes).toHaveLength(1);
});

test('two processes whose token is refused at once rotate the tokens once, also where the answer gets lost', async () => {
  const { server, id } = await connectedTo({
    hasGrace: true,
    refreshes: [({ rotate }) => (rotate(), 'cut'), renewed()],
  });
  const [before] = await inTwoProcesses(id);
  if (before?.status !== 'fulfilled' || before.value === undefined) throw new Error('there is no token');
  server.delayMs = 400;
  const [one, other] = await inTwoProcesses(id, before.value);
  expect(one).toMatchObject({
    status: 'fulfilled',
    value: { authorization: expect.stringMatching(/^Bearer access-/) },
  });
  expect(one).not.toEqual(before);
  expect(other).toEqual(one);
  expect(server.refreshes).toHaveLength(2);
});

test('a token of half a minute is renewed when half of it is over', async () => {
  const { server, id } = await connectedTo({ tokens: (tokens) => json({ ...tokens, expires_in: 30 }) });
  const { routineId } = await routineOn(id);
  const { database } = service.deps;
  await changeConnections(database, id, { credentialsExpireAt: ahead('20 seconds') });
  expect((await discover(routineId, id)).status).toBe(200);
  expect(server.refreshes).toHaveLength(0);
  await changeConnections(database, id, { credentialsExpireAt: ahead('10 seconds') });
  expect((await discover(routineId, id)).status).toBe(200);
  expect(server.refreshes).toHaveLength(1);
});

test('a discovery with tokens that are refused as soon as they are renewed says that the sign-in is over', async () => {
  const { id } = await connectedTo({ refusesRenewed: true });
  const { routineId } = await routineOn(id);
  await expireIn(service, id, -5);
  for (let round = 0; round < 2; round += 1) {
    const { status, body } = await discover(routineId, id);
    expect([status, body.error]).toEqual([
      409,
      { code: 'connection_not_ready', message: 'The provider no longer accepts the sign-in; connect again.' },
    ]);
  }
  expect(await publicError(id)).toBe('authorization_revoked');
});

test('a grant that is revoked between two calls of one run fails the second, and ends the sign-in', async () => {
  const { id } = await connectedTo({ revokedAfterCalls: 1 });
  const { run } = await routineOn(id);
  const steps = toolSteps(await run('one', 'two'));
  expect(steps.map(({ state }) => state)).toEqual(['succeeded', 'failed']);
  expect(await publicError(id)).toBe('authorization_revoked');
  expect(await run()).toMatchObject({ state: 'failed', reason: 'blocked_connection', stepCount: 0 });
});

test('a registration that has expired is made again with the next sign-in, and the connection keeps its id', async () => {
  const { server, id } = await connectedTo({
    registration: (client) => json({ ...client, client_secret: 's', client_secret_expires_at: 1 }, 201),
    refreshes: [refuses(json({ error: 'invalid_client' }, 401)), renewed()],
  });
  const { run } = await routineOn(id);
  await expireIn(service, id, -5);
  expect(await run()).toMatchObject({ reason: 'blocked_connection' });
  const again = await signInAt(server, { url: undefined, connectionId: id });
  expect([again.status, again.body.error]).toEqual([200, undefined]);
  expect(again.data).toMatchObject({ id, state: 'ready', error: null });
  expect(server.clients.size).toBe(2);
  await expireIn(service, id, -5);
  expect(await run()).toMatchObject({ state: 'succeeded', outcome: 'done' });
});

test('a run waits for a provider that is away, says so, and can be cancelled', async () => {
  const { id } = await connectedTo({ refreshes: [refuses({ status: 503, text: '' })] });
  const { routineId, script } = await routineOn(id);
  await expireIn(service, id, -5);
  script('hello');
  const { data } = await person.session.post(`/v1/routines/${routineId}/run`);
  const read = async () => (await person.session.get(`/v1/runs/${data.id}`)).data;
  await expect.poll(async () => (await read()).waitingFor).toBe('connection');
  expect(await read()).toMatchObject({ state: 'running', stepCount: 0 });
  await person.session.post(`/v1/runs/${data.id}/cancel`);
  expect(await runEnded(person.session, data.id)).toMatchObject({ state: 'cancelled' });
});

test('a run that has waited for as long as it may ends as blocked, and names the provider as the reason', async () => {
  const { id } = await connectedTo({ refreshes: [refuses({ status: 503, text: '' })] });
  const { routineId, script } = await routineOn(id);
  await expireIn(service, id, -5);
  script('hello');
  const { data } = await person.session.post(`/v1/routines/${routineId}/run`);
  const read = async () => (await person.session.get(`/v1/runs/${data.id}`)).data;
  await expect.poll(async () => (await read()).waitingFor).toBe('connection');
  await changeRuns(service.deps.database, data.id, {
    createdAt: ago('7 hours'),
    queueUntil: ago('1 hour'),
    waitsSince: ago('7 hours'),
  });
  const ended = await runEnded(person.session, data.id);
  expect(ended).toMatchObject({ state: 'failed', reason: 'blocked_connection', stepCount: 0 });
  expect(ended.errorMessage).toContain('could not be reached to renew a sign-in');
  expect(await publicError(id)).toBe('ready');
});

test('a response that is lost with the tokens in it ends the sign-in where the server has no grace period', async () => {
  const server = await oddServer({ refreshes: [({ rotate }) => (rotate(), 'cut')] });
  const { data } = await signInAt(server);
  const { run } = await routineOn(data.id);
  await expireIn(service, data.id, -5);
  expect(await run()).toMatchObject({ state: 'failed', reason: 'blocked_connection' });
  expect(server.refreshes).toHaveLength(2);
  expect(await publicError(data.id)).toBe('authorization_expired');
});
