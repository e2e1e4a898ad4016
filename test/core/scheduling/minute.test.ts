import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WORKFLOW } from '#lib/temporal/index.ts';
import { ApiClient } from '#test/support/client.ts';
import { ahead, changeRoutines } from '#test/support/given.ts';
import { signUp } from '#test/support/people.ts';
import { FULL_SIZE } from '#test/support/properties.ts';
import { activeRoutine, runEnded } from '#test/support/routines.ts';
import { startService, startWorkers, type Service } from '#test/support/service.ts';
import { proves } from '#test/support/proves.ts';

let service: Service;
let replica: { url: string; close(): Promise<void> };
let moreWorkers: { stop(): Promise<void> };
/** On each change the routine is due in two seconds, not at the next minute. */
const YEARLY = '0 0 1 1 *';
const workflowId = `scheduler-${randomBytes(6).toString('hex')}`;

beforeAll(async () => {
  service = await startService({ worker: true });
  replica = await service.replica();
  moreWorkers = await startWorkers(service.config, service.deps);
  await service.temporal.workflow.start(WORKFLOW.scheduler, {
    taskQueue: service.config.TEMPORAL_TASK_QUEUE,
    workflowId,
    args: FULL_SIZE ? [] : [{ intervalMs: 1_000 }],
  });
});
afterAll(async () => {
  await service.temporal.workflow.getHandle(workflowId).terminate('the test is over');
  await replica.close();
  await moreWorkers.stop();
  await service.close();
});

test(
  'a routine that is due runs by itself, at its time, exactly once',
  proves('limit.scheduler', 'routine.nextRunAt'),
  async () => {
    const key = await (await signUp(service)).key();
    const marker = `Say ${randomBytes(6).toString('hex')}.`;
    const id = await activeRoutine(key, { schedule: FULL_SIZE ? '* * * * *' : YEARLY, instructions: marker });
    if (!FULL_SIZE) await changeRoutines(service.deps.database, id, { nextRunAt: ahead('2 seconds') });
    const { nextRunAt } = (await key.get(`/v1/routines/${id}`)).data;
    const scheduled = async () => (await key.get(`/v1/routines/${id}/runs?trigger=schedule`)).data as { id: string }[];
    const cron = service.anonymous.with({ 'X-Scheduler-Secret': service.config.SCHEDULER_SECRET! });
    const tickEverywhere = () =>
      Promise.all(
        [service.url, replica.url].map((url) => new ApiClient(url, cron.headers).post('/internal/scheduler/tick')),
      );

    // The scheduler alone makes this run, and the crons beside it must not make a second one.
    await expect.poll(scheduled, { interval: 100 }).toHaveLength(1);
    await tickEverywhere();
    await tickEverywhere();

    const [first] = await scheduled();
    const run = await runEnded(key, first!.id);
    expect(run).toMatchObject({ state: 'succeeded', trigger: 'schedule', stepCount: 1 });
    expect(run.scheduledFor).toBe(nextRunAt);
    expect(Date.parse(run.createdAt)).toBeGreaterThanOrEqual(Date.parse(run.scheduledFor));
    expect((await scheduled()).filter((other) => other.id !== run.id)).toEqual([]);
    const calls = service.gateway.control.requests().filter(({ body }) => JSON.stringify(body ?? '').includes(marker));
    expect(calls).toHaveLength(2); // One call of the proof run, one of this run.
  },
);
