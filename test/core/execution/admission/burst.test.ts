import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { announceSlots, withdrawSlots } from '#core/execution/admission/index.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { FULL_SIZE } from '#test/support/properties.ts';
import { createRoutine } from '#test/support/routines.ts';
import { startWorkers, type Service } from '#test/support/service.ts';

const test = serviceTest({ env: { DATABASE_POOL_SIZE: '30' } });
const limited = serviceTest({
  env: { DATABASE_POOL_SIZE: '30', RUNS_AT_A_TIME_PER_ORGANIZATION: '3' },
});

const REQUESTS = FULL_SIZE ? 200 : 30;
const SLOTS = 5;
/** Most runs that are admitted: one more than there are slots. */
const ROOM = SLOTS + 1;

/** Counts the admitted runs that have not ended, by organization, and all runs that have not ended. */
async function openRuns({ deps: { database } }: Service) {
  const found = await database.row<{ admitted: number; mostOfOne: number; open: number }>`
    select coalesce(sum(admitted), 0)::integer as admitted, coalesce(max(admitted), 0)::integer as "mostOfOne",
      coalesce(sum(open), 0)::integer as open
    from (
      select count(*) filter (where admitted_at is not null) as admitted, count(*) as open from runs
      where state in ('queued', 'running') group by organization_id
    ) by_organization
  `;
  return found!;
}

/** Watches until every run has ended. @returns the most runs admitted at a time, in total and in one organization */
async function mostAdmitted(service: Service) {
  let most = { admitted: 0, mostOfOne: 0 };
  for (;;) {
    const found = await openRuns(service);
    most = {
      admitted: Math.max(most.admitted, found.admitted),
      mostOfOne: Math.max(most.mostOfOne, found.mostOfOne),
    };
    if (found.open === 0) return most;
    await sleep(20);
  }
}

async function burst(post: () => Promise<{ status: number }>, requests: number) {
  const responses = await Promise.all(Array.from({ length: requests }, post));
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([202]));
}

test('of many requests at once no more runs are admitted than there is room for, and all of them end', async ({
  service,
  key,
}) => {
  const routineId = await createRoutine(key);
  // No worker uses these slots: admitted runs stay admitted, so one too many would be seen.
  const taskQueue = service.config.TEMPORAL_TASK_QUEUE;
  const workerId = 'absent';
  await announceSlots(service.deps.database, { workerId, taskQueue, slots: SLOTS });
  await burst(() => key.post(`/v1/routines/${routineId}/run`), REQUESTS);
  await service.deps.admission.idle();
  expect(await openRuns(service)).toMatchObject({ admitted: ROOM, open: REQUESTS });

  await withdrawSlots(service.deps.database, workerId);
  const workers = await startWorkers(service.config, service.deps, { concurrency: SLOTS });
  try {
    const { admitted } = await mostAdmitted(service);
    expect(admitted).toBeLessThanOrEqual(ROOM);
  } finally {
    await workers.stop();
  }
  const states = await service.deps.database
    .row`select count(*) filter (where state = 'succeeded')::integer as succeeded from runs`;
  expect(states).toEqual({ succeeded: REQUESTS });
});

limited(
  'of many requests at once by each of two organizations, neither has more runs at a time than it may',
  async ({ service, key, bobsKey }) => {
    const [hers, his] = await Promise.all([createRoutine(key), createRoutine(bobsKey)]);
    const taskQueue = service.config.TEMPORAL_TASK_QUEUE;
    const workerId = 'absent';
    await announceSlots(service.deps.database, { workerId, taskQueue, slots: 50 });
    await Promise.all([
      burst(() => key.post(`/v1/routines/${hers}/run`), REQUESTS / 2),
      burst(() => bobsKey.post(`/v1/routines/${his}/run`), REQUESTS / 2),
    ]);
    await service.deps.admission.idle();
    expect(await openRuns(service)).toMatchObject({ admitted: 6, mostOfOne: 3, open: REQUESTS });

    await withdrawSlots(service.deps.database, workerId);
    const workers = await startWorkers(service.config, service.deps, { concurrency: 50 });
    try {
      expect((await mostAdmitted(service)).mostOfOne).toBe(3);
    } finally {
      await workers.stop();
    }
  },
  120_000,
);
