import { expect, vi } from 'vitest';
import { tick } from '#core/scheduling/index.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { signUp } from '#test/support/people.ts';
import { createRoutine, runEnded, runOnce } from '#test/support/routines.ts';
import { startService } from '#test/support/service.ts';
import { ago, changeRoutines } from '#test/support/given.ts';
import { sql } from '#lib/database/index.ts';
import { openStream, type EventStream, type StreamedEvent } from './event-source.ts';

const FOLLOWERS = 50;

const test = serviceTest({
  worker: true,
  env: { EVENT_STREAMS_PER_CREDENTIAL: String(FOLLOWERS) },
})
  .extend(
    'follow',
    ({ key }) =>
      (runId: string, lastEventId?: string, client = key): Promise<EventStream> =>
        openStream(`${client.baseUrl}/v1/runs/${runId}/events`, {
          ...client.headers,
          ...(lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId }),
        }),
  )
  /** Starts a run that lasts until the gateway has waited this long. */
  .extend('startRun', ({ service, key }) => async (latencyMs: number): Promise<string> => {
    service.gateway.control.script({ latencyMs });
    const routineId = await createRoutine(key);
    return (await key.post(`/v1/routines/${routineId}/run`)).data.id;
  });

test.afterEach(({ service }) => service.gateway.control.reset());

function names(events: readonly StreamedEvent[]) {
  return events.map(({ event, data }) => (event === 'state' ? data.state : `step ${data.index}`));
}

/** Returns the run ids that a look asks for, from an array of Postgres. */
function idsIn(value: unknown): string[] {
  return String(value).slice(1, -1).split(',');
}

test('a run is followed from its beginning to its end, and the stream ends with it', async ({
  key,
  follow,
  startRun,
}) => {
  const runId = await startRun(1_500);
  const stream = await follow(runId);
  expect(stream.headers.get('content-type')).toMatch(/^text\/event-stream(;|$)/);
  expect(stream.headers.get('cache-control')).toContain('no-store');
  const events = await stream.rest();
  expect(names(events).filter((name) => name !== 'queued')).toEqual(['running', 'step 0', 'succeeded']);
  const detail = (await key.get(`/v1/runs/${runId}`)).data;
  expect(events.at(-2)!.data).toEqual(detail.steps[0]);
  const {
    prompt: _prompt,
    briefing: _briefing,
    steps: _steps,
    webhookDeliveries: _deliveries,
    queuedSeconds: _queuedSeconds,
    waitingFor: _waitingFor,
    gate: _gate,
    notifications: _notifications,
    followUps: _followUps,
    chatDeliveries: _chatDeliveries,
    previousResultId: _previous,
    nextResultId: _next,
    lastGoodRunId: _lastGood,
    resultSchema: _resultSchema,
    routineName: _routineName,
    workflowUrl: _workflowUrl,
    textsLeftOutFrom: _textsLeftOutFrom,
    wouldHaveDone: _wouldHaveDone,
    factsVersion: _factsVersion,
    ...run
  } = detail;
  expect(events.at(-1)!.data).toEqual(run);
});

test('a run that has ended is told at once, and a follower that has seen its end gets 204', async ({ key, follow }) => {
  const run = await runOnce(key, await createRoutine(key));
  const events = await (await follow(run.id)).rest();
  expect(names(events)).toEqual(['step 0', 'succeeded']);
  const done = await follow(run.id, events.at(-1)!.id);
  expect(done.status).toBe(204);
  expect(await done.rest()).toEqual([]);
});

test('a follower who was cut off goes on where it was, with nothing told twice and nothing left out', async ({
  follow,
  startRun,
}) => {
  const runId = await startRun(2_000);
  const whole = follow(runId).then((stream) => stream.rest());
  const first = await follow(runId);
  const seen = [await first.next()];
  while (seen.at(-1)!.data.state !== 'running') seen.push(await first.next());
  first.close();
  const rest = await (await follow(runId, seen.at(-1)!.id)).rest();
  expect(names(rest)).toEqual(['step 0', 'succeeded']);
  expect(rest.map(({ id }) => id)).toEqual((await whole).slice(-2).map(({ id }) => id));
  const midway = await (await follow(runId, rest[0]!.id)).rest();
  expect(names(midway)).toEqual(['succeeded']);
  const nonsense = await (await follow(runId, 'what?')).rest();
  expect(names(nonsense)).toEqual(['step 0', 'succeeded']);
});

test('a cancelled run, and an occurrence that was skipped, end their streams too', async ({
  service,
  key,
  follow,
  startRun,
}) => {
  const runId = await startRun(60_000);
  const stream = await follow(runId);
  await key.post(`/v1/runs/${runId}/cancel`);
  const events = await stream.rest();
  expect(events.at(-1)!.data).toMatchObject({ state: 'cancelled', reason: 'cancelled' });

  const replaced = await startRun(60_000);
  const following = await follow(replaced);
  while ((await following.next()).data.state !== 'running');
  const { routineId: replacing } = (await key.get(`/v1/runs/${replaced}`)).data;
  await changeRoutines(service.deps.database, replacing, {
    state: 'active',
    overlap: 'cancel_previous',
    nextRunAt: ago('1 second'),
  });
  await tick(service.deps);
  const toItsEnd = await following.rest();
  expect(toItsEnd.at(-1)!.data).toMatchObject({ state: 'cancelled', reason: 'replaced' });

  const routineId = await createRoutine(key, { schedule: '@hourly', misfire: 'skip' });
  await changeRoutines(service.deps.database, routineId, {
    state: 'active',
    nextRunAt: sql`date_trunc('hour', ${ago('3 hours')})`,
    schedule: sql`'59 ' || extract(hour from ${ago('2 hours')}) || ' * * *'`,
  });
  await tick(service.deps);
  const [skipped] = (await key.get(`/v1/routines/${routineId}/runs`)).data;
  expect(names(await (await follow(skipped.id)).rest())).toEqual(['skipped']);
});

test('fifty followers of one run are all told, with a query for all of them together', async ({
  service,
  key,
  follow,
  startRun,
}) => {
  const query = vi.spyOn(service.deps.database, 'query');
  const begun = performance.now();
  const runId = await startRun(2_500);
  const streams = await Promise.all(Array.from({ length: FOLLOWERS }, () => follow(runId)));
  const told = await Promise.all(streams.map((stream) => stream.rest()));
  const seconds = (performance.now() - begun) / 1_000;
  const statements = query.mock.calls.map(([config]) => config);
  query.mockRestore();
  expect(streams.map(({ status }) => status)).toEqual(streams.map(() => 200));
  for (const events of told) expect(names(events).slice(-2)).toEqual(['step 0', 'succeeded']);
  expect((await runEnded(key, runId)).state).toBe('succeeded');
  // All streams share one look at a time, at least 20 ms after the previous look.
  const looks = statements.filter(({ text }) => text.includes('pg_current_snapshot'));
  expect(looks.length).toBeLessThanOrEqual(2 * (seconds * 50 + 1));
  for (const { values } of looks) {
    if (values?.length) expect(new Set(idsIn(values[0]))).toEqual(new Set([runId]));
  }
  // States and steps are read once for all streams.
  const reads = statements.filter(({ text }) => /from steps where run_id = \$\d+ and project_id/.test(text));
  expect(reads.length).toBeLessThan(FOLLOWERS);
});

test('following needs what reading the run needs', async ({ service, ada, key, follow }) => {
  const run = await runOnce(key, await createRoutine(key));
  const path = `/v1/runs/${run.id}/events`;
  const accept = { Accept: 'text/event-stream' };
  expect((await service.anonymous.with(accept).get(path)).status).toBe(401);
  const scopeless = await ada.key(['routines:read']);
  expect((await scopeless.with(accept).get(path)).status).toBe(403);
  const stranger = await (await signUp(service)).key();
  const foreign = await stranger.with(accept).get(path);
  expect(foreign).toMatchObject({ status: 404, body: { error: { code: 'run_not_found' } } });
  expect((await key.with({ Accept: 'application/json' }).get(path)).status).toBe(406);
  const session = await follow(run.id, undefined, ada.session);
  expect(names(await session.rest())).toEqual(['step 0', 'succeeded']);
});

test('a client that goes away is forgotten, and a server that stops ends its streams', async ({ follow }) => {
  const other = await startService();
  const client = await (await signUp(other)).key();
  const routineId = await createRoutine(client);
  const { data: run } = await client.post(`/v1/routines/${routineId}/run`);
  const left = await follow(run.id, undefined, client);
  expect((await left.next()).data.state).toBe('queued');
  left.close();
  const stayed = await follow(run.id, undefined, client);
  expect((await stayed.next()).data.state).toBe('queued');
  const ended = stayed.rest();
  await other.close();
  const [end, ...more] = await ended;
  expect(more).toEqual([]);
  expect(end).toMatchObject({ event: 'end', id: '', data: { reason: 'server_stopping' } });
  expect(Number(end!.retry)).toBeGreaterThanOrEqual(1_000);
});
