import { expect } from 'vitest';
import { serviceTest } from '#test/support/fixtures.ts';
import { ago, changeRuns } from '#test/support/given.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';
import { retain } from '#test/core/execution/retention/planted-runs.ts';
import type { Json } from '#test/core/integrations/tools/support.ts';

const test = serviceTest({ worker: true });

test('a verdict is kept with the run and names its last writer; the audit log names each', async ({
  service,
  ada,
  bobsKey,
}) => {
  const key = await ada.key();
  const session = ada.session.with({ 'X-Project-Id': ada.projectId });
  const id = await createRoutine(key);
  const run = await runOnce(key, id);
  expect(run.verdict).toBeNull();
  const path = `/v1/runs/${run.id}/verdict`;
  const first = await key.put(path, { useful: true });
  expect(first.data.verdict).toMatchObject({ useful: true, note: null, by: { kind: 'key' } });
  const second = await session.put(path, { useful: false, note: ' Too long. ' });
  expect(second.status, JSON.stringify(second.body)).toBe(200);
  const { data: listed } = await key.get(`/v1/routines/${id}/runs`);
  const verdict = { useful: false, note: 'Too long.', by: { kind: 'person', id: ada.userId } };
  expect(listed[0].verdict).toMatchObject(verdict);
  const { data: events } = await ada.session.get(
    `/v1/audit-events?organizationId=${ada.organizationId}&targetId=${run.id}`,
  );
  expect(events.map(({ action, actor, details }: Json) => [action, actor.kind, details])).toEqual([
    ['run.judged', 'person', { routineId: id, useful: false }],
    ['run.judged', 'key', { routineId: id, useful: true }],
  ]);

  const refusal = async (client: typeof key, body: unknown) => (await client.put(path, body)).body.error?.code;
  expect(await refusal(bobsKey, { useful: true })).toBe('run_not_found');
  expect(await refusal(await ada.key(['runs:read']), { useful: true })).toBe('insufficient_scope');
  for (const body of [{}, { useful: 'yes' }, { useful: false, note: ' ' }, { useful: true, note: 'x'.repeat(1_001) }]) {
    expect([body, await refusal(key, body)]).toEqual([body, 'invalid_request']);
  }
  const { database } = service.deps;
  await changeRuns(database, run.id, { state: 'running' });
  expect(await refusal(key, { useful: true })).toBe('run_not_finished');
  await changeRuns(database, run.id, { state: 'succeeded' });
  // Retention deletes the comment, and keeps the verdict.
  await changeRuns(database, run.id, { finishedAt: ago('100 days') });
  await retain(database);
  expect((await key.get(`/v1/runs/${run.id}`)).data.verdict).toMatchObject({ ...verdict, note: null });
  expect(await refusal(key, { useful: true })).toBe('content_erased');
});
