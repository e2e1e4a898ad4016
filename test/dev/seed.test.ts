import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { seedDemo } from '#dev/seed.ts';
import { ApiClient } from '#test/support/client.ts';
import { startMailbox } from '#test/support/mail.ts';
import { startService } from '#test/support/service.ts';
import { startEverythingServer } from '#test/tools/everything-server.ts';

const [mailbox, tools, dataDir] = await Promise.all([
  startMailbox(),
  startEverythingServer(),
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
  uiOrigin: service.config.UI_ORIGIN,
  toolServer: tools.url,
  mail: mailbox.url,
  model: fixture,
};

function clientOf({ apiKey }: { apiKey: string }): ApiClient {
  return new ApiClient(service.url, { Authorization: `Bearer ${apiKey}` });
}

/** Has the next seed make the routine again, with the account that there is. */
async function forgetRoutine(): Promise<void> {
  const file = path.join(dataDir, 'demo.json');
  const demo: object = JSON.parse(await readFile(file, 'utf8'));
  await writeFile(file, JSON.stringify({ ...demo, routineId: null }));
}

test('without a model there is an account, and the next start with one makes the routine', async () => {
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
  expect((await key.get(`/v1/routines/${demo.routineId}`)).data.state).toBe('active');

  const { firstRun: _, leftToDo: _left, ...again } = demo;
  expect(await seedDemo(service.url, options)).toEqual(again);
});

test('a first run that fails says why', async () => {
  await forgetRoutine();
  service.gateway.control.script({ behaviour: { kind: 'error', status: 400 } });
  const demo = await seedDemo(service.url, options);
  expect(await demo.firstRun).toMatch(/^The first run of "Daily site check" ended failed: \S/);
  const { leftToDo } = await seedDemo(service.url, options);
  expect(leftToDo).toContain('is a draft: press "Run now"');
});

test('nothing is run unasked on a model that may cost money', async () => {
  await forgetRoutine();
  const paid = { modelIds: ['none', 'fixture/analyst'], isFree: false };
  const demo = await seedDemo(service.url, { ...options, model: paid });
  expect(demo.firstRun).toBeUndefined();
  expect(demo.leftToDo).toContain('is a draft, as a run on fixture/analyst may cost money');
  const { data } = await clientOf(demo).get(`/v1/routines/${demo.routineId}/runs`);
  expect(data).toEqual([]);
});

test('a demo routine of the fixture takes the model that was found since, and an edited one keeps its own', async () => {
  await forgetRoutine();
  const before = await seedDemo(service.url, options);
  await before.firstRun;
  const key = clientOf(before);
  const model = async () => (await key.get(`/v1/routines/${before.routineId}`)).data.model.modelId;
  const found = { modelIds: ['fixture/analyst'], isFree: false };
  const moved = await seedDemo(service.url, { ...options, model: found });
  expect([moved.routineId, await model()]).toEqual([before.routineId, 'fixture/analyst']);
  expect(moved.leftToDo).toContain('fixture/analyst may cost money');
  await seedDemo(service.url, options);
  expect(await model()).toBe('fixture/analyst');
});
