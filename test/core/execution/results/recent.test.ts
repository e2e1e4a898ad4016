import { expect } from 'vitest';
import { serviceTest } from '#test/support/fixtures.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';

const test = serviceTest({ worker: true });

test('the last runs of each routine come newest first, with what the last that ended said', async ({
  service,
  key,
}) => {
  const quiet = await createRoutine(key, { name: 'Quiet' });
  const busy = await createRoutine(key, { name: 'Busy', instructions: 'Write of the harbour.' });
  const runs = [];
  for (let count = 0; count < 2; count += 1) runs.unshift(await runOnce(key, busy));
  service.gateway.control.script({
    marker: 'the harbour',
    behaviour: { kind: 'error', status: 400, message: 'No harbour today.' },
  });
  const failed = await runOnce(key, busy);
  const { status, data, body } = await key.get('/v1/runs/recent?perRoutine=2');
  expect(status, JSON.stringify(body)).toBe(200);
  expect(data.map(({ routineId }: { routineId: string }) => routineId)).toEqual([busy, quiet]);
  expect(data[0].runs).toEqual([
    {
      id: failed.id,
      state: 'failed',
      reason: failed.reason,
      outcome: null,
      at: failed.startedAt,
    },
    {
      id: runs[0]?.id,
      state: 'succeeded',
      reason: null,
      outcome: 'done',
      at: runs[0]?.startedAt,
    },
  ]);
  expect(data[0].lastEnded).toMatchObject({
    id: failed.id,
    errorMessage: failed.errorMessage,
    finishedAt: failed.finishedAt,
  });
  expect(data[1]).toEqual({ routineId: quiet, runs: [], lastEnded: null });
});

test('it is paged as the routines are, and holds those of its own project only', async ({ key, bobsKey }) => {
  await createRoutine(key, { name: 'One more' });
  const routines = await key.get('/v1/routines');
  const first = await key.get('/v1/runs/recent?limit=1');
  expect(first.data).toMatchObject([{ routineId: routines.data[0].id }]);
  const next = /<(.*)>/.exec(first.headers.get('link') ?? '')?.[1];
  const second = await key.get(next!.slice(next!.indexOf('/v1/')));
  expect(second.data).toMatchObject([{ routineId: routines.data[1].id }]);
  const own = await createRoutine(bobsKey, { name: 'Of another project' });
  const { data } = await bobsKey.get('/v1/runs/recent');
  expect(data).toEqual([{ routineId: own, runs: [], lastEnded: null }]);
  expect((await key.get('/v1/runs/recent?perRoutine=21')).status).toBe(400);
});
