import { expect } from 'vitest';
import { serviceTest } from '#test/support/fixtures.ts';
import type { ApiClient } from '#test/support/client.ts';
import { signInAgain, signUp } from '#test/support/people.ts';
import { createRoutine } from '#test/support/routines.ts';
import { openStream } from './event-source.ts';
import { changeKeys, removeMemberships } from '#test/support/given.ts';

/** A service without a worker, so a started run stays queued and its streams stay open. */
const test = serviceTest({
  env: {
    EVENT_STREAMS_PER_CREDENTIAL: '3',
    EVENT_STREAMS_PER_ORGANIZATION: '5',
    EVENT_STREAM_CHECK_SECONDS: '1',
  },
}).extend('runId', { scope: 'file' }, async ({ key }) => {
  const { data: run } = await key.post(`/v1/routines/${await createRoutine(key)}/run`);
  return run.id as string;
});

function follow(client: ApiClient, runId: string, baseUrl = client.baseUrl) {
  return openStream(`${baseUrl}/v1/runs/${runId}/events`, client.headers);
}

test('a credential has so many streams open and an organization so many, over all replicas, even when opened at once', async ({
  service,
  ada,
  key,
  runId,
}) => {
  const replica = await service.replica();
  const urls = [service.url, replica.url];
  const open = await Promise.all(Array.from({ length: 12 }, (_, n) => follow(key, runId, urls[n % 2])));
  const taken = open.filter(({ status }) => status === 200);
  expect(taken).toHaveLength(3);
  const refused = open.find(({ status }) => status !== 200)!;
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  await expect(refused.next()).rejects.toThrow(
    /rate_limited.*This credential has 3 event streams open, which is the limit/,
  );
  const others = await Promise.all(
    [await ada.key(), await ada.key(), ada.session].map((client) => follow(client, runId)),
  );
  expect(others.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 200, 429]);
  await expect(others.find(({ status }) => status === 429)!.next()).rejects.toThrow(
    /This organization has 5 event streams open/,
  );
  for (const stream of [...taken, ...others]) stream.close();
  await expect
    .poll(async () => {
      const again = await follow(key, runId);
      again.close();
      return again.status;
    })
    .toBe(200);
  await replica.close();
});

test('a stream ends when its key is revoked', async ({ ada, runId }) => {
  const key = await ada.key();
  const stream = await follow(key, runId);
  expect((await stream.next()).data.state).toBe('queued');
  const [{ id }] = (await ada.session.get('/v1/api-keys')).data;
  expect((await ada.session.delete(`/v1/api-keys/${id}`)).status).toBe(200);
  const rest = await stream.rest();
  expect(rest).toMatchObject([{ event: 'end', data: { reason: 'access_ended' } }]);
  expect((await follow(key, runId)).status).toBe(401);
});

test('a stream ends when its person signs out, and the streams of other sessions go on', async ({
  service,
  ada,
  runId,
}) => {
  const other = await signInAgain(service, ada);
  const [stays, ends] = [await follow(ada.session, runId), await follow(other, runId)];
  await stays.next();
  await ends.next();
  expect((await other.post('/auth/sign-out')).status).toBe(200);
  expect(await ends.rest()).toMatchObject([{ event: 'end', data: { reason: 'access_ended' } }]);
  const next = stays.next();
  const { data: cancelled } = await ada.session.post(`/v1/runs/${runId}/cancel`);
  expect(cancelled.state).toBe('cancelled');
  expect((await next).data.state).toBe('cancelled');
});

test('a stream ends when its person leaves the organization', async ({ service }) => {
  const cleo = await signUp(service);
  const { data: run } = await cleo.session.post(`/v1/routines/${await createRoutine(cleo.session)}/run`);
  const stream = await follow(cleo.session, run.id);
  await stream.next();
  await removeMemberships(service.deps.database, { userId: cleo.userId });
  expect(await stream.rest()).toMatchObject([{ event: 'end', data: { reason: 'access_ended' } }]);
});

test('a stream ends when its key loses the scope to read runs', async ({ service, bob }) => {
  const key = await bob.key();
  const { data: run } = await key.post(`/v1/routines/${await createRoutine(key)}/run`);
  const stream = await follow(key, run.id);
  await stream.next();
  const { projectId } = bob;
  await changeKeys(service.deps.database, { projectId }, { scopes: ['routines:read'] });
  expect(await stream.rest()).toMatchObject([{ event: 'end', data: { reason: 'access_ended' } }]);
});
