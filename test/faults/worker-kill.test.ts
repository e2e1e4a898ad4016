import { afterAll, beforeAll, expect, test } from 'vitest';
import { rows, sql } from '#lib/database/index.ts';
import type { Config } from '#lib/config/index.ts';
import type { ApiClient } from '#test/support/client.ts';
import { endScheduler, startNode, type NodeProcess } from '#test/support/node-process.ts';
import { signUp } from '#test/support/people.ts';
import { createRoutine, runEnded } from '#test/support/routines.ts';
import { startService, type Service } from '#test/support/service.ts';

let service: Service;
let key: ApiClient;
let workers: NodeProcess[] = [];

beforeAll(async () => {
  service = await startService();
  key = await (await signUp(service)).key();
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.end('SIGKILL')));
  await endScheduler(service.temporal, service.config.TEMPORAL_TASK_QUEUE);
  await service.close();
});

const PASSED_ON = [
  'DATABASE_URL',
  'TEMPORAL_ADDRESS',
  'TEMPORAL_TASK_QUEUE',
  'ENCRYPTION_KEY',
  'GATEWAY_BASE_URL',
  'GATEWAY_API_KEY',
] as const satisfies readonly (keyof Config)[];

/** The real entry, as its own process, on the parts of the test's service. */
async function startWorker(): Promise<NodeProcess> {
  const worker = startNode('workers/main.ts', {
    NODE_ENV: 'test',
    ALLOW_PRIVATE_NETWORK: 'true',
    ...Object.fromEntries(PASSED_ON.map((name) => [name, String(service.config[name])])),
  });
  workers = [...workers, worker];
  await worker.until('worker started');
  return worker;
}

test('a worker killed in the middle of a model call: another ends the run, once, with its attempts told', async () => {
  const calls = () =>
    service.gateway.control.requests().filter(({ path }) => path.includes('/chat/'));

  const first = await startWorker();
  service.gateway.control.script({ latencyMs: 120_000 });
  const routineId = await createRoutine(key);
  const { data: run } = await key.post(`/v1/routines/${routineId}/run`);
  await expect.poll(() => calls().length, { timeout: 15_000 }).toBe(1);
  await first.end('SIGKILL');
  await startWorker();

  const ended = await runEnded(key, run.id, 45_000);
  expect(ended).toMatchObject({ state: 'succeeded', stepCount: 1 });
  expect(ended.steps).toMatchObject([{ index: 0, state: 'succeeded', attempt: 2 }]);
  expect(calls()).toHaveLength(2);
  const ledger = await rows(
    service.deps.database,
    sql`select step_index, total_tokens from usage_ledger where run_id = ${run.id}`,
  );
  expect(ledger).toEqual([{ step_index: 0, total_tokens: ended.usage.totalTokens }]);
}, 90_000);
