import { describe, expect, test as plain } from 'vitest';
import { preferredWait } from '#api/http/prefer.ts';
import type { Answer, ApiClient } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { changeRuns } from '#test/support/given.ts';
import { createRoutine } from '#test/support/routines.ts';

describe('the seconds of Prefer', () => {
  plain.for([
    ['wait=25', 25],
    ['respond-async, Wait = 5 ; strict', 5],
    ['foo="a, wait=9", wait="7"', 7],
    ['wait=2, wait=3', 2],
    ['wait=4000', 50],
    ['', undefined],
    ['wait', undefined],
    ['wait=0', undefined],
    ['wait=-1', undefined],
    ['wait=1.5', undefined],
    ['wait=soon, wait=3', undefined],
    ['wait;strict=3', undefined],
    ['await=3', undefined],
    ['foo="wait=3', undefined],
  ] as const)('%s', ([header, seconds]) => {
    expect(preferredWait(header)).toBe(seconds);
  });
});

/** A service without a worker, so a started run stays queued until it is cancelled. */
const test = serviceTest({
  env: { EVENT_STREAMS_PER_CREDENTIAL: '3', EVENT_STREAM_CHECK_SECONDS: '1' },
}).extend('routineId', { scope: 'file' }, ({ key }) => createRoutine(key));

async function startRun(key: ApiClient, routineId: string): Promise<string> {
  return (await key.post(`/v1/routines/${routineId}/run`)).data.id;
}

function waitFor(key: ApiClient, runId: string, prefer = 'wait=50'): Promise<Answer> {
  return key.with({ Prefer: prefer }).get(`/v1/runs/${runId}`);
}

test('the response comes when the run has ended', async ({ service, key, routineId }) => {
  const { database } = service.deps;
  const runId = await startRun(key, routineId);
  const [first, second] = [waitFor(key, runId), waitFor(key, runId)];
  await expect.poll(() => service.deps.runFeed.streams()).toBe(2);
  // This state is not final.
  await changeRuns(database, runId, { state: 'running' });
  await changeRuns(database, runId, { state: 'queued' });
  await key.post(`/v1/runs/${runId}/cancel`);
  for (const { status, data, headers } of await Promise.all([first, second])) {
    expect([status, data.id, data.state]).toEqual([200, runId, 'cancelled']);
    expect(headers.get('preference-applied')).toBe('wait=50');
  }
  const ended = await waitFor(key, runId, 'wait=20');
  expect([ended.data.state, ended.headers.get('preference-applied')]).toEqual(['cancelled', 'wait=20']);
});

test('after its time the response has the run as it is, and one that cannot be read waits not at all', async ({
  key,
  routineId,
}) => {
  const runId = await startRun(key, routineId);
  const begun = performance.now();
  const { status, data, headers } = await waitFor(key, runId, 'wait=1');
  expect(performance.now() - begun).toBeGreaterThan(990);
  expect([status, data.state, headers.get('preference-applied')]).toEqual([200, 'queued', 'wait=1']);
  const ignored = await waitFor(key, runId, 'wait=soon');
  expect([ignored.data.state, ignored.headers.get('preference-applied')]).toEqual(['queued', null]);
});

test('a wait counts as a stream, and one whose caller goes away no longer', async ({ service, ada, routineId }) => {
  const key = await ada.key();
  const runId = await startRun(key, routineId);
  const gone = new AbortController();
  const left = Array.from({ length: 3 }, () =>
    fetch(`${key.baseUrl}/v1/runs/${runId}`, {
      headers: { ...key.headers, Prefer: 'wait=50' },
      signal: gone.signal,
    }).catch(() => 'gone'),
  );
  await expect.poll(() => service.deps.runFeed.streams()).toBe(3);
  const refused = await waitFor(key, runId);
  expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limited']);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  gone.abort();
  expect(await Promise.all(left)).toEqual(['gone', 'gone', 'gone']);
  const onRecord = () => service.deps.database.row`select from run_followers where leased_until > now()`;
  await expect.poll(onRecord).toBeUndefined();
  expect(service.deps.runFeed.streams()).toBe(0);
});

test('a key that is revoked meanwhile reads nothing, nor does one of another project', async ({
  service,
  ada,
  bobsKey,
  routineId,
}) => {
  const key = await ada.key();
  const runId = await startRun(key, routineId);
  expect((await waitFor(bobsKey, runId)).status).toBe(404);
  const waiting = waitFor(key, runId);
  await expect.poll(() => service.deps.runFeed.streams()).toBe(1);
  const [{ id }] = (await ada.session.get('/v1/api-keys')).data;
  await ada.session.delete(`/v1/api-keys/${id}`);
  await ada.session.post(`/v1/runs/${runId}/cancel`);
  const { status, body } = await waiting;
  expect([status, body.error.code, body.data]).toEqual([401, 'authentication_required', undefined]);
});

test('a process that stops responds to those that wait', async ({ service, key, routineId }) => {
  const replica = await service.replica();
  const runId = await startRun(key, routineId);
  const waiting = waitFor(key.at(replica.url), runId);
  const onRecord = () => service.deps.database.row`select from run_followers where leased_until > now()`;
  await expect.poll(onRecord).toBeDefined();
  await replica.close();
  expect((await waiting).data.state).toBe('queued');
});
