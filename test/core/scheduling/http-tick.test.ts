import { expect } from 'vitest';
import { tickSettled } from '#core/scheduling/index.ts';
import { ApiClient } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { occurrencesOf, plantRoutine, plantRoutines } from './planted.ts';

const PATH = '/internal/scheduler/tick';

const test = serviceTest({ own: true }).extend('cron', { scope: 'file' }, ({ service }) =>
  service.anonymous.with({ 'X-Scheduler-Secret': service.config.SCHEDULER_SECRET! }),
);

test('a tick over HTTP responds with 202 at once and claims what is due', async ({ service, cron }) => {
  const { database } = service.deps;
  const { id } = await plantRoutine(database, { schedule: '@yearly', nextRunAt: new Date() });
  expect(await cron.post(PATH)).toMatchObject({
    status: 202,
    data: { accepted: true, alreadyRunning: false },
  });
  await tickSettled(service.deps);
  expect(await occurrencesOf(database, id)).toMatchObject([{ state: 'queued' }]);
});

test('a wrong secret, or none, is 401 and makes no tick', async ({ service }) => {
  const { database } = service.deps;
  const { id } = await plantRoutine(database, { schedule: '@yearly', nextRunAt: new Date() });
  const wrong = service.anonymous.with({
    'X-Scheduler-Secret': `${service.config.SCHEDULER_SECRET}x`,
  });
  for (const caller of [wrong, service.anonymous]) {
    const refused = await caller.post(PATH);
    expect(refused.status).toBe(401);
    expect(refused.body.error.code).toBe('invalid_signature');
  }
  await tickSettled(service.deps);
  expect(await occurrencesOf(database, id)).toEqual([]);
});

test('without a configured secret the tick is 503 for every secret that is presented', async ({ service, cron }) => {
  const replica = await service.replica({ SCHEDULER_SECRET: '' });
  try {
    const refused = await new ApiClient(replica.url, cron.headers).post(PATH);
    expect(refused.status).toBe(503);
    expect(refused.body.error.code).toBe('scheduler_unavailable');
  } finally {
    await replica.close();
  }
});

test('ticks that overlap, in one process and in two, claim each occurrence once', async ({ service, cron }) => {
  const { database } = service.deps;
  const routines = await plantRoutines(database, 300, {
    schedule: '@yearly',
    nextRunAt: new Date(),
  });
  const replica = await service.replica();
  try {
    const other = new ApiClient(replica.url, cron.headers);
    const answers = await Promise.all([cron, cron, other, other].map((caller) => caller.post(PATH)));
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202]);
    expect(answers.filter(({ data }) => data.alreadyRunning).length).toBeGreaterThan(0);
    await tickSettled(service.deps);
  } finally {
    await replica.close();
  }
  const claimed = async () => {
    const records = await Promise.all(routines.map(({ id }) => occurrencesOf(database, id)));
    return records.filter((record) => record.length === 1 && record[0]!.state === 'queued').length;
  };
  await expect.poll(claimed).toBe(300);
});
