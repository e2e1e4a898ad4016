import { expect } from 'vitest';
import { serviceTest } from '#test/support/fixtures.ts';
import { createRoutine, runEnded, runOnce } from '#test/support/routines.ts';
import { plantDelivery, retain } from '#test/core/execution/retention/planted-runs.ts';
import { ago, changeRuns } from '#test/support/given.ts';

const test = serviceTest({ worker: true, own: true }).extend(
  'age',
  ({ service }) =>
    async (runId: string, days: number): Promise<void> => {
      await changeRuns(service.deps.database, runId, { finishedAt: ago(`${days} days`) });
    },
);

test('a run is deleted when its time is over, and what it used stays', async ({ service, key, ada, age }) => {
  const { database } = service.deps;
  const routineId = await createRoutine(key);
  const run = await runOnce(key, routineId);
  const repeated = (await key.post(`/v1/runs/${run.id}/retry`)).data;
  await plantDelivery(database, run.id, 'delivered');
  const used = async () => ({
    usage: (await key.get('/v1/usage?groupBy=routine')).data,
    ledger:
      await database.row`select count(*) as entries, sum(total_tokens) as tokens from usage_ledger where run_id = ${run.id}`,
    totals: await database.row`select * from usage_totals where scope_id = ${ada.organizationId}`,
  });
  expect((await runEnded(key, repeated.id)).state).toBe('succeeded');
  const before = await used();
  expect(before.ledger).toMatchObject({ entries: 1 });

  await age(run.id, 399.9);
  expect(await retain(database)).toEqual({ erased: 1, deleted: 0 });
  expect((await key.get(`/v1/runs/${run.id}`)).data.state).toBe('succeeded');
  await age(run.id, 400.1);
  expect(await retain(database)).toEqual({ erased: 0, deleted: 1 });

  expect(await used()).toEqual(before);
  for (const path of ['', '/events']) {
    expect((await key.get(`/v1/runs/${run.id}${path}`)).body.error.code).toBe('run_not_found');
  }
  for (const path of ['retry', 'cancel']) {
    expect((await key.post(`/v1/runs/${run.id}/${path}`)).body.error.code).toBe('run_not_found');
  }
  expect((await key.get(`/v1/runs/${repeated.id}`)).data.retryOf).toBe(run.id);
  const left = await database.row`
    select (select count(*) from steps where run_id = ${run.id}) as steps,
      (select count(*) from webhook_deliveries where run_id = ${run.id}) as deliveries
  `;
  expect(left).toEqual({ steps: 0, deliveries: 0 });
});

test('a version that a deleted run has proven stays proven, and the next version is not', async ({
  service,
  key,
  age,
}) => {
  const { database } = service.deps;
  const id = await createRoutine(key);
  const proof = await runOnce(key, id);
  expect(proof.state).toBe('succeeded');
  await age(proof.id, 91);
  expect(await retain(database)).toEqual({ erased: 1, deleted: 0 });
  expect((await key.get(`/v1/routines/${id}`)).data.activation.ready).toBe(true);
  await age(proof.id, 401);
  expect(await retain(database)).toEqual({ erased: 0, deleted: 1 });
  expect((await key.get(`/v1/routines/${id}`)).data.activation).toEqual({
    ready: true,
    proofRunId: proof.id,
    reason: null,
  });
  expect((await key.post(`/v1/routines/${id}/activate`)).status).toBe(200);

  await key.patch(`/v1/routines/${id}`, { instructions: 'Write two lines.' });
  expect((await key.get(`/v1/routines/${id}`)).data.activation.ready).toBe(false);
  const { status, body } = await key.post(`/v1/routines/${id}/activate`);
  expect([status, body.error.code]).toEqual([409, 'successful_run_required']);
});

test('a failed run that is deleted proves nothing', async ({ service, key, age }) => {
  service.gateway.control.script({ behaviour: { kind: 'error', status: 400 } });
  const id = await createRoutine(key);
  const failed = await runOnce(key, id);
  expect(failed.state).toBe('failed');
  await age(failed.id, 401);
  expect(await retain(service.deps.database)).toEqual({ erased: 1, deleted: 1 });
  expect((await key.get(`/v1/routines/${id}`)).data.activation).toMatchObject({
    ready: false,
    proofRunId: null,
  });
});

test('a list goes on where its page ended, although the run that ended the page is deleted', async ({
  service,
  key,
  age,
}) => {
  const id = await createRoutine(key);
  const made: string[] = [];
  for (let n = 0; n < 4; n += 1) made.unshift((await runOnce(key, id)).id);
  const first = await key.get(`/v1/routines/${id}/runs?limit=2`);
  expect(first.data.map((run: { id: string }) => run.id)).toEqual(made.slice(0, 2));
  const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link')!)![1]!;
  await age(made[1]!, 500);
  expect(await retain(service.deps.database)).toEqual({ erased: 1, deleted: 1 });
  const second = await key.get(next.replace(service.url, ''));
  expect(second.data.map((run: { id: string }) => run.id)).toEqual(made.slice(2));
});
