import { expect } from 'vitest';
import { forgetReader } from '#core/execution/results/index.ts';
import { changeRuns } from '#test/support/given.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';
import { marker, type Json } from '#test/core/integrations/tools/support.ts';
import { prices, typedRoutine } from './world.ts';

const test = serviceTest({ worker: true });

const UNTYPED = { resultSchema: null, resultKey: null };

async function newest(key: { get(path: string): Promise<Json> }, query = '') {
  const { status, data, body } = await key.get(`/v1/results${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return data as Json[];
}

test('results come newest first, each with its kind and the lines that are new', async ({ service, ada }) => {
  const key = await ada.key();
  const mark = marker();
  const says = (text: string) => service.gateway.control.script({ marker: mark, behaviour: { kind: 'text', text } });
  const id = await createRoutine(key, { name: 'Harbour', instructions: `Look. ${mark}` });
  const runs: Json[] = [];
  const run = async (text: string) => {
    says(text);
    runs.unshift(await runOnce(key, id));
  };
  await run('# Harbour\n\nThree ships.\nNo storm.');
  await run('# Harbour\n\nThree ships.\nNo storm.');
  await run('# Harbour\n\nThree ships.\nA storm.\n');
  service.gateway.control.script({
    marker: mark,
    behaviour: { kind: 'error', status: 400, message: 'No harbour today.' },
  });
  runs.unshift(await runOnce(key, id));

  const results = (await newest(key)).filter(({ routineId }) => routineId === id);
  expect(results.map(({ runId }) => runId)).toEqual(runs.map((each) => each.id));
  expect(results.map(({ kind }) => kind)).toEqual(['failed', 'changed', 'unchanged', 'first']);
  expect(results[0]).toMatchObject({
    state: 'failed',
    outcome: null,
    errorMessage: runs[0].errorMessage,
    excerpt: null,
    previousRunId: runs[1].id,
  });
  expect(results[1]).toEqual({
    runId: runs[1].id,
    routineId: id,
    routineName: 'Harbour',
    kind: 'changed',
    trigger: 'manual',
    state: 'succeeded',
    reason: null,
    errorMessage: null,
    outcome: 'done',
    outcomeSummary: null,
    urgency: 'normal',
    excerpt: runs[1].result,
    goesOn: false,
    changes: null,
    lines: { counts: { added: 1, removed: 1 }, added: ['A storm.'], removed: ['No storm.'] },
    previousRunId: runs[2].id,
    costUsd: runs[1].usage.costUsd,
    startedAt: runs[1].startedAt,
    finishedAt: runs[1].finishedAt,
    unread: true,
    overtakenBy: null,
  });
  expect(results[3]).toMatchObject({ lines: null, previousRunId: null });
  const worth = await newest(key, '?worthReading=true');
  expect(worth.map(({ kind }) => kind)).toEqual(['failed', 'changed', 'first']);
  expect(await newest(key, '?worthReading=false')).toEqual([results[2]]);
  expect(await newest(key, `?since=${encodeURIComponent(runs[0].finishedAt)}`)).toEqual([results[0]]);
});

test('typed data shows the differences by its key, or says that there are none', async ({ service, bob }) => {
  const key = await bob.key();
  const routine = await typedRoutine(service, key);
  await routine.run(prices({ tea: 3, milk: 1 }));
  await routine.run(prices({ milk: 1, tea: 3 }));
  await routine.run(prices({ tea: 4, jam: 2 }));
  const results = (await newest(key)).filter(({ routineId }) => routineId === routine.id);
  expect(results.map(({ kind }) => kind)).toEqual(['changed', 'unchanged', 'first']);
  expect(results.map(({ urgency }) => urgency)).toEqual(['normal', 'none', 'normal']);
  expect(results[0]).toMatchObject({
    lines: null,
    changes: {
      by: { list: '/items', key: '/id' },
      counts: { added: 1, removed: 1, changed: 1 },
      added: [{ id: 'jam', price: 2 }],
      removed: [{ id: 'milk', price: 1 }],
      changed: [{ key: 'tea', before: { id: 'tea', price: 3 }, after: { id: 'tea', price: 4 } }],
    },
  });
});

test('what a reader has read is theirs: another person, and an API key, have read nothing', async ({
  service,
  ada,
  bobsKey,
}) => {
  const key = await ada.key();
  const { id, run } = await typedRoutine(service, key, UNTYPED);
  const runs: Json[] = [];
  for (let count = 0; count < 3; count += 1) runs.unshift(await run('All is calm.'));
  const unreadOf = async (client: typeof key) =>
    (await newest(client, '?unread=true')).filter(({ routineId }) => routineId === id).map(({ runId }) => runId);
  const all = runs.map((run) => run.id);
  expect(await unreadOf(key)).toEqual(all);
  const [latest, middle, first] = runs;

  const other = await ada.key();
  // Each key has its own marks. A key of another project changes no mark.
  const marked = await other.post('/v1/results/read', { runIds: [middle.id] });
  expect(marked.status, JSON.stringify(marked.body)).toBe(200);
  expect(await unreadOf(other)).toEqual([latest.id, first.id]);
  expect(await unreadOf(key)).toEqual(all);
  expect((await bobsKey.post('/v1/results/read', { runIds: [latest.id] })).status).toBe(200);
  expect(await unreadOf(other)).toEqual([latest.id, first.id]);

  await other.post('/v1/results/read', { until: middle.finishedAt });
  expect(await unreadOf(other)).toEqual([latest.id]);
  expect((await newest(other, '?unread=false')).map(({ runId }) => runId)).toEqual(
    expect.arrayContaining([middle.id, first.id]),
  );
  // A time in the future does not mark later results.
  await other.post('/v1/results/read', { until: '2199-01-01T00:00:00Z' });
  const next = await run('All is calm.');
  expect(await unreadOf(other)).toEqual([next.id]);
  const { data } = await other.get('/v1/results/unread');
  expect(data).toEqual({
    worthReading: 0,
    worthReadingRoutines: 0,
    unchanged: 1,
    unchangedRoutines: 1,
    more: false,
    until: next.finishedAt,
    readUntil: expect.any(String),
  });

  await changeRuns(service.deps.database, next.id, { contentErasedAt: new Date() });
  expect(await unreadOf(other)).toEqual([]);
});

test('a result that a later run has overtaken says so, and by which version', async ({ service, ada }) => {
  const key = await ada.key();
  const { id, mark, run } = await typedRoutine(service, key, { ...UNTYPED, outcome: 'required' });
  const ends = (outcome: string, text: string) => {
    const calls = [{ name: 'finish', arguments: { outcome, summary: text } }];
    service.gateway.control.script({ marker: mark, behaviour: { kind: 'tool-calls', calls, text } });
    return runOnce(key, id);
  };
  const overtaken = async () => {
    const found = (await newest(key)).filter(({ routineId }) => routineId === id);
    return found.map(({ runId, overtakenBy }) => [runId, overtakenBy?.runId ?? null]);
  };
  const alarm = await ends('done', 'The sign-up page answers 404.');
  // A repeated result confirms the first one, and a failure does not.
  const same = await ends('done', 'The sign-up page answers 404.');
  const failed = await ends('could_not', 'The site does not answer.');
  expect(await overtaken()).toEqual([
    [failed.id, null],
    [same.id, null],
    [alarm.id, null],
  ]);
  const calm = await ends('nothing_to_report', 'All six pages answer.');
  const later = await ends('nothing_to_report', 'All six pages answer still.');
  // An episode ends with the first run that has another result. Quiet results have no episode.
  expect(await overtaken()).toEqual([
    [later.id, null],
    [calm.id, null],
    [failed.id, calm.id],
    [same.id, null],
    [alarm.id, calm.id],
  ]);
  const [, , , , first] = (await newest(key)).filter(({ routineId }) => routineId === id);
  expect(first.overtakenBy).toEqual({
    runId: calm.id,
    finishedAt: calm.finishedAt,
    outcome: 'nothing_to_report',
    outcomeSummary: 'All six pages answer.',
    resultPreview: 'All six pages answer.',
    versionChanged: false,
  });

  const report = await ends('done', 'Two pages are slow.');
  const { body } = await key.patch(`/v1/routines/${id}`, { outcome: 'optional' });
  expect(body.error).toBeUndefined();
  await run('One page is slow.');
  const found = await newest(key);
  expect(found.find(({ runId }) => runId === report.id)?.overtakenBy).toMatchObject({ versionChanged: true });
});

test('data is overtaken by a change of it, and by no other words', async ({ service, ada }) => {
  const key = await ada.key();
  const routine = await typedRoutine(service, key);
  const runs = [];
  for (const tea of [3, 3, 4]) runs.push(await routine.run(prices({ tea })));
  const found = (await newest(key)).filter(({ routineId }) => routineId === routine.id);
  expect(found.map(({ overtakenBy }) => overtakenBy?.runId ?? null)).toEqual([null, null, runs[2]!.id]);
});

test('what was marked as read by mistake is unread again', async ({ service, ada }) => {
  const key = await ada.key();
  const { id, run } = await typedRoutine(service, key, UNTYPED);
  const first = await run('All is calm.');
  const second = await run('All is calm.');
  const unreadOf = async (client: typeof key) =>
    (await newest(client, '?unread=true')).filter(({ routineId }) => routineId === id).map(({ runId }) => runId);
  await key.post('/v1/results/read', { runIds: [first.id] });
  const { data: before } = await key.get('/v1/results/unread');
  expect(before.readUntil).toBeNull();
  await key.post('/v1/results/read', { until: second.finishedAt });
  expect(await unreadOf(key)).toEqual([]);
  // After the undo, results that were read before are still read.
  const undone = await key.post('/v1/results/unread', { since: before.readUntil });
  expect(undone.data).toMatchObject({ readUntil: null });
  expect(await unreadOf(key)).toEqual([second.id]);
  await key.post('/v1/results/unread', { runIds: [first.id] });
  expect(await unreadOf(key)).toEqual([second.id, first.id]);

  await key.post('/v1/results/read', { until: first.finishedAt });
  const { data: once } = await key.get('/v1/results/unread');
  await key.post('/v1/results/read', { until: second.finishedAt });
  await key.post('/v1/results/unread', { since: once.readUntil });
  expect(await unreadOf(key)).toEqual([second.id]);
  expect((await key.post('/v1/results/unread', {})).status).toBe(400);
});

test('a page ends where its limit does, and names the next one', async ({ service, ada }) => {
  const key = await ada.key();
  const { run } = await typedRoutine(service, key, UNTYPED);
  const runs: Json[] = [];
  for (let count = 0; count < 3; count += 1) runs.unshift(await run('All is calm.'));
  const since = `since=${encodeURIComponent(runs[2].finishedAt)}`;
  for (const filter of ['', '&unread=true', '&worthReading=false']) {
    const seen: string[] = [];
    let path: string | undefined = `/v1/results?limit=1&${since}${filter}`;
    while (path !== undefined) {
      const page = await key.get(path);
      expect(page.data.length).toBeLessThanOrEqual(1);
      seen.push(...page.data.map(({ runId }: Json) => runId));
      const next = /<([^>]*)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1];
      path = next?.slice(next.indexOf('/v1/'));
    }
    const all = runs.map((run) => run.id);
    expect([filter, seen]).toEqual([filter, filter.includes('worth') ? all.slice(0, 2) : all]);
  }
});

test('what a person has read is forgotten when they leave', async ({ service, ada, bob }) => {
  const { database } = service.deps;
  const marks = () =>
    database.rows`select reader_id from result_readers where reader_id = ${bob.userId}
      union all select reader_id from result_reads where reader_id = ${bob.userId}`;
  const own = bob.session.with({ 'X-Project-Id': bob.projectId });
  const id = await createRoutine(own, { name: 'Left behind' });
  const run = await runOnce(own, id);
  const next = await runOnce(own, id);
  await own.post('/v1/results/read', { runIds: [next.id], until: run.finishedAt });
  expect(await marks()).toHaveLength(2);
  await forgetReader(database, { organizationId: ada.organizationId, userId: bob.userId });
  expect(await marks()).toHaveLength(2);
  await forgetReader(database, { organizationId: bob.organizationId, userId: bob.userId });
  expect(await marks()).toEqual([]);
});

test('bad input is named', async ({ key }) => {
  for (const body of [
    {},
    { runIds: ['run_1'] },
    { until: 'yesterday' },
    { runIds: [], when: '2026-01-01T00:00:00Z' },
  ]) {
    const { status, body: answer } = await key.post('/v1/results/read', body);
    expect([body, status, answer.error.code]).toEqual([body, 400, 'invalid_request']);
  }
  expect((await key.get('/v1/results?unread=maybe')).status).toBe(400);
});
