import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { serveDemoTools } from '#dev/demo/tools.ts';
import { seedDemo } from '#dev/stack/seed.ts';
import { nextInTimetable, parseSchedule } from '#lib/schedule/index.ts';
import { ApiClient } from '#test/support/client.ts';
import { ageCounts } from '#test/support/given.ts';
import { startMailbox } from '#test/support/mail.ts';
import { signIn } from '#test/support/people.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';
import { startService } from '#test/support/service.ts';
import { FULL_SIZE } from '#test/support/properties.ts';

const [mailbox, tools, dataDir] = await Promise.all([
  startMailbox(),
  serveDemoTools(0),
  mkdtemp(path.join(tmpdir(), 'ras-seed-')),
]);
const service = await startService({ worker: true, env: mailbox.env });
afterAll(async () => {
  await service.close();
  await Promise.all([mailbox.stop(), tools.stop(), rm(dataDir, { recursive: true })]);
});

const fixture = { modelIds: ['fixture/writer-small'], isFree: true };
const options = {
  dataDir,
  databaseUrl: service.databaseUrl,
  uiOrigin: service.config.UI_ORIGIN,
  toolServer: tools.url,
  mail: mailbox.url,
  model: fixture,
};
const file = path.join(dataDir, 'demo.json');

function clientOf({ apiKey }: { apiKey: string }): ApiClient {
  return new ApiClient(service.url, { Authorization: `Bearer ${apiKey}` });
}

/** Signs in to the demo account like a browser. */
async function enter({ email, password }: { email: string; password: string }): Promise<ApiClient> {
  return (await signIn(service, email, password)).session;
}

/** Makes the next seed create the routines again, with the present account. */
async function forgetRoutines(): Promise<void> {
  const demo: object = JSON.parse(await readFile(file, 'utf8'));
  await writeFile(file, JSON.stringify({ ...demo, routineId: null }));
  await letSignIn();
}

/** Lets the time pass after which the account may sign in again. */
function letSignIn(): Promise<void> {
  return ageCounts(service.deps.database, 'sign-in-of-network', '1 hour');
}

test('without a model there is an account, and the next start with one makes the routines', async () => {
  const waiting = await seedDemo(service.url, { ...options, model: undefined });
  expect(waiting).toMatchObject({
    routineId: null,
    leftToDo: expect.stringContaining('the next start'),
  });
  expect(await seedDemo(service.url, { ...options, model: undefined })).toEqual(waiting);
});

test('a first run does not hold up the start: its end is told later, and the routine is then active', async () => {
  const release = service.gateway.control.hold();
  const demo = await seedDemo(service.url, options);
  expect(demo.leftToDo).toContain('is under way');
  const key = clientOf(demo);
  expect((await key.get(`/v1/routines/${demo.routineId}`)).data.state).toBe('draft');
  release();
  expect(await demo.firstRun).toMatch(/^The first run of "Daily site check" succeeded after \d+ s/);
  const { data: routines } = await key.get('/v1/routines');
  expect(routines.map(({ name, state }: Named) => [name, state])).toEqual([
    ['Daily site check', 'active'],
    ['Weekly competitor watch', 'active'],
    ['Monthly content plan', 'active'],
  ]);

  const { firstRun: _, leftToDo: _left, ...again } = demo;
  expect(await seedDemo(service.url, options)).toEqual(again);
});

test('the past is one that the schedules, the usage and the news agree with', async () => {
  const demo = await kept();
  const key = clientOf(demo);
  const session = await enter(demo);
  const project = session.with({ 'X-Project-Id': demo.projectId });
  const { data: routines } = await key.get('/v1/routines');
  const counts: Record<string, number> = {};
  const steps: number[] = [];
  for (const { id, name, schedule, timezone } of routines) {
    const { data: runs } = await key.get(`/v1/routines/${id}/runs?limit=100`);
    const past = runs.filter(({ trigger }: Run) => trigger === 'schedule');
    counts[name] = past.length;
    steps.push(...runs.map(({ stepCount }: Run) => stepCount));
    // Ids are in the order of time, and the runs are exactly at the times of the schedule.
    const times = past.map((run: Run) => run.scheduledFor);
    expect(times).toEqual(times.toSorted().toReversed());
    const timetable = { ...NO_WINDOW, schedule: parseSchedule(schedule), timezone };
    for (const [index, time] of times.slice(1).entries()) {
      expect(nextInTimetable(timetable, new Date(time))?.toISOString()).toBe(times[index]);
    }
    const { activation } = (await key.get(`/v1/routines/${id}`)).data;
    expect(activation.proofRunId).toBe(runs.find(({ trigger }: Run) => trigger === 'manual').id);
  }
  expect(counts).toEqual({
    'Daily site check': 28,
    'Weekly competitor watch': 5,
    'Monthly content plan': 2,
  });
  const to = new Date().toISOString().slice(0, 10);
  const from = new Date(Date.now() - 89 * 86_400_000).toISOString().slice(0, 10);
  const { data: usage } = await key.get(`/v1/usage?from=${from}&to=${to}&groupBy=routine`);
  expect(usage.total.steps).toBe(steps.reduce((sum, count) => sum + count, 0));
  expect(usage.groups).toHaveLength(3);

  // The unread results of a usual morning: a change in each of two routines, and unchanged ones.
  const { data: unread } = await project.get('/v1/results/unread');
  expect(unread).toMatchObject({ worthReading: 2, worthReadingRoutines: 2, unchanged: 3 });
  const { data: news } = await project.get('/v1/results?unread=true&worthReading=true');
  expect(news.map(({ kind }: { kind: string }) => kind)).toEqual(['changed', 'changed']);
  const { data: failed } = await project.get('/v1/runs?state=failed');
  expect(failed).toMatchObject([{ reason: 'could_not', routineName: 'Daily site check' }]);

  const { data: projects } = await session.get('/v1/projects');
  expect(projects.map(({ name, isDemo }: { name: string; isDemo: boolean }) => [name, isDemo])).toEqual([
    ['Demo', true],
    ['Default', false],
  ]);
  const own = session.with({ 'X-Project-Id': projects[1].id });
  expect((await own.get('/v1/routines')).data).toEqual([]);
});

test('a run of now reads as those of the past, and is compared with them', async () => {
  const demo = await kept();
  const key = clientOf(demo);
  const { data: routines } = await key.get('/v1/routines');
  const watch = routines.find(({ name }: Named) => name.includes('competitor'));
  const { data: before } = await key.get(`/v1/routines/${watch.id}/runs?limit=1`);
  const { data: latest } = await key.get(`/v1/runs/${before[0].id}`);
  expect(latest.changes.counts).toEqual({ added: 1, removed: 1, changed: 2 });
  const { data: against } = await key.get(`/v1/runs/${latest.id}/diff`);
  expect(against.changed[0]).toMatchObject({
    key: 'studiolark/team',
    before: { price: 49 },
    after: { price: 39 },
  });
  const now = await runOnce(key, watch.id);
  expect(now).toMatchObject({ state: 'succeeded', data: latest.data, result: latest.result });
  expect(now.changes).toMatchObject({
    against: latest.id,
    counts: { added: 0, removed: 0, changed: 0 },
  });
  expect(shapeOf(now.steps)).toEqual(shapeOf(latest.steps));
});

test('a revoked key is made again, and nothing else', async () => {
  const demo = await kept();
  await letSignIn();
  const session = await enter(demo);
  const project = session.with({ 'X-Project-Id': demo.projectId });
  const { data: keys } = await project.get('/v1/api-keys');
  for (const { id } of keys) await project.delete(`/v1/api-keys/${id}`);
  const again = await seedDemo(service.url, options);
  expect(again).toEqual({ ...demo, apiKey: expect.any(String) });
  expect((await clientOf(again).get('/v1/routines')).data).toHaveLength(3);
});

test.runIf(FULL_SIZE)('a first run that fails says why', async () => {
  await forgetRoutines();
  service.gateway.control.script({ behaviour: { kind: 'error', status: 400 } });
  const demo = await seedDemo(service.url, options);
  expect(await demo.firstRun).toMatch(/^The first run of "Daily site check" ended failed: \S/);
  const { leftToDo } = await seedDemo(service.url, options);
  expect(leftToDo).toContain('is a draft: press "Run now"');
});

test('nothing is run unasked on a model that may cost money, and nothing stands for a proof', async () => {
  await forgetRoutines();
  const paid = { modelIds: ['none', 'fixture/analyst'], isFree: false };
  const demo = await seedDemo(service.url, { ...options, model: paid });
  expect(demo.firstRun).toBeUndefined();
  expect(demo.leftToDo).toContain('are drafts, as a run on fixture/analyst may cost money');
  const key = clientOf(demo);
  const { data: routine } = await key.get(`/v1/routines/${demo.routineId}`);
  expect(routine).toMatchObject({ state: 'draft', activation: { proofRunId: null } });
  const { data: runs } = await key.get(`/v1/routines/${demo.routineId}/runs?limit=100`);
  expect(new Set(runs.map(({ trigger }: Run) => trigger))).toEqual(new Set(['schedule']));
});

test.runIf(FULL_SIZE)(
  'routines of the fixture take the model that was found since, and an edited one keeps its own',
  async () => {
    await forgetRoutines();
    const before = await seedDemo(service.url, options);
    await before.firstRun;
    const key = clientOf(before);
    const model = async () => (await key.get(`/v1/routines/${before.routineId}`)).data.model.modelId;
    const found = { modelIds: ['fixture/unpriced'], isFree: false };
    const moved = await seedDemo(service.url, { ...options, model: found });
    expect([moved.routineId, await model()]).toEqual([before.routineId, 'fixture/unpriced']);
    expect(moved.leftToDo).toContain('fixture/unpriced may cost money');
    await seedDemo(service.url, options);
    expect(await model()).toBe('fixture/unpriced');
  },
);

test('a demo that a person has removed is not made again, and the key is then of their own project', async () => {
  const demo = await kept();
  const session = await enter(demo);
  const project = session.with({ 'X-Project-Id': demo.projectId });
  const { data: active } = await project.get('/v1/routines?state=active');
  for (const { id } of active) await project.post(`/v1/routines/${id}/pause`);
  const removed = await session.delete(`/v1/projects/${demo.projectId}?confirm=Demo`);
  expect(removed.status).toBe(200);

  const after = await seedDemo(service.url, options);
  expect(after).toMatchObject({
    routineId: null,
    removed: true,
    leftToDo: 'The demo was removed; `npm start -- --fresh` makes a new one.',
  });
  expect((await clientOf(after).get('/v1/routines')).data).toEqual([]);
  expect(await seedDemo(service.url, options)).toEqual(after);
  const { data: projects } = await session.get('/v1/projects');
  expect(projects.map(({ name }: Named) => name)).toEqual(['Default']);
});

test('the demo of an earlier release keeps its routine', async () => {
  const { email, password, apiKey } = await kept();
  const routineId = await createRoutine(clientOf({ apiKey }), { name: 'Of an earlier release' });
  await writeFile(file, JSON.stringify({ email, password, apiKey, routineId }));
  expect(await seedDemo(service.url, options)).toMatchObject({
    apiKey,
    routineId,
    leftToDo: expect.stringContaining('"Of an earlier release" is a draft'),
  });
});

interface Named {
  readonly name: string;
  readonly state: string;
}

interface Run {
  readonly trigger: string;
  readonly stepCount: number;
  readonly scheduledFor: string;
}

const NO_WINDOW = { startsAt: null, endsAt: null, skipDates: [] };

async function kept() {
  return JSON.parse(await readFile(file, 'utf8'));
}

function shapeOf(steps: readonly { kind: string; tool: { result: string } | null }[]) {
  return steps.map(({ kind, tool }) => [kind, tool?.result ?? null]);
}
