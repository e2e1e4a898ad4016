import { NativeConnection } from '@temporalio/worker';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type Service } from '#test/support/service.ts';
import { createWorkers } from '#workers/worker.ts';

let service: Service;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

test('when one of the workers cannot be created, its error is thrown and the others let go of the connection', async () => {
  const { config, deps } = service;
  const connection = await NativeConnection.connect({ address: config.TEMPORAL_ADDRESS });
  const creating = createWorkers({
    connection,
    namespace: config.TEMPORAL_NAMESPACE,
    taskQueue: config.TEMPORAL_TASK_QUEUE,
    concurrency: 2,
    // A worker of workflows refuses this number; the other workers have no such limit.
    workflowConcurrency: -1,
    shutdownGraceSeconds: 1,
    deps,
  });
  await expect(creating).rejects.toThrow('poller behavior must be at least 1');
  await connection.close();
});
