import { expect } from 'vitest';
import { changeRuns } from '#test/support/given.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';
import type { ApiClient } from '#test/support/client.ts';
import { FORM, prices, typedRoutine } from './world.ts';

const test = serviceTest({ worker: true });

async function besideOf(key: ApiClient, id: string) {
  const { data } = await key.get(`/v1/runs/${id}`);
  return [data.previousResultId, data.nextResultId, data.lastGoodRunId];
}

test('a run names the results beside it: successes, and failures that have one all the same', async ({
  service,
  key,
}) => {
  const routine = await typedRoutine(service, key, { resultSchema: null, resultKey: null });
  const { database } = service.deps;
  const first = await routine.run('One.');
  const empty = await routine.run('Nothing.');
  const failed = await routine.run('Half.');
  const last = await routine.run('Two.');
  await changeRuns(database, empty.id, { state: 'failed', result: null });
  await changeRuns(database, failed.id, { state: 'failed' });
  // Runs of another routine are not among this routine's results.
  await runOnce(key, await createRoutine(key));
  expect(await besideOf(key, first.id)).toEqual([null, failed.id, null]);
  expect(await besideOf(key, empty.id)).toEqual([first.id, failed.id, first.id]);
  expect(await besideOf(key, failed.id)).toEqual([first.id, last.id, first.id]);
  expect(await besideOf(key, last.id)).toEqual([failed.id, null, first.id]);
});

test('a run has the schema by which its data was made, also after the routine has another', async ({
  service,
  key,
}) => {
  const routine = await typedRoutine(service, key);
  const { id } = await routine.run(prices({ tea: 3 }));
  await key.patch(`/v1/routines/${routine.id}`, { resultSchema: null, resultKey: null });
  expect((await key.get(`/v1/runs/${id}`)).data.resultSchema).toEqual(FORM.resultSchema);
  const text = await routine.run('Tea is 3.');
  expect((await key.get(`/v1/runs/${text.id}`)).data.resultSchema).toBeNull();
});
