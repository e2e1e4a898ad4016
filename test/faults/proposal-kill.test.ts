import { afterAll, beforeAll, expect, test } from 'vitest';
import { transaction } from '#lib/database/index.ts';
import { lockWaits } from '#test/support/database.ts';
import type { ApiClient } from '#test/support/client.ts';
import { signUp } from '#test/support/people.ts';
import { activeRoutine, runEnded } from '#test/support/routines.ts';
import { startService, type Service } from '#test/support/service.ts';
import { workerProcesses, type WorkerProcesses } from '#test/support/worker-process.ts';

let service: Service;
let key: ApiClient;
let workers: WorkerProcesses;

beforeAll(async () => {
  service = await startService();
  workers = workerProcesses(service);
  key = await (await signUp(service)).key();
});
afterAll(async () => {
  await workers.close();
  await service.close();
});

test('a worker killed between the proof of a change and its take-over: a tick of another takes it over', async () => {
  const { database } = service.deps;
  const worker = await workers.start();
  const id = await activeRoutine(key, { instructions: 'Write the first line.' });
  const release = service.gateway.control.hold();
  const patch = { instructions: 'Write the second line.' };
  const { data: opened } = await key.post(`/v1/routines/${id}/proposals`, { patch });

  // The run ends while its proposal is locked, so the take-over waits until its worker is dead.
  await transaction(database, async (tx) => {
    await tx.row`select id from routine_proposals where id = ${opened.id} for update`;
    release();
    const run = await runEnded(key, opened.runId);
    expect(run).toMatchObject({ state: 'succeeded', routineRevision: -1 });
    await expect.poll(() => lockWaits(database)).toBeGreaterThan(0);
    await worker.end('SIGKILL');
  });
  const between = (await key.get(`/v1/routines/${id}`)).data;
  expect(between).toMatchObject({ state: 'active', revision: 1, proposal: { state: 'open' } });

  await workers.start();
  const read = async () => (await key.get(`/v1/routines/${id}`)).data;
  await expect.poll(read, { timeout: 90_000 }).toMatchObject({ revision: 2, proposal: { state: 'taken' } });
  expect(await read()).toMatchObject({ ...patch, state: 'active', activation: { proofRunId: opened.runId } });
});
