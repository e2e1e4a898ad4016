import { NativeConnection } from '@temporalio/worker';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type Service } from '#test/support/service.ts';
import { untilReached } from '#workers/until.ts';
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

test('a namespace that does not exist is told, and waited for by no worker', async () => {
  const { config, deps } = service;
  const { TEMPORAL_ADDRESS: address } = config;
  const start = async () => {
    const connection = await NativeConnection.connect({ address });
    const workers = await createWorkers({
      connection,
      namespace: 'no-such-namespace',
      taskQueue: config.TEMPORAL_TASK_QUEUE,
      concurrency: 2,
      shutdownGraceSeconds: 1,
      deps,
    });
    await workers.run();
  };
  const { signal } = new AbortController();
  await expect(untilReached(start, { address, log: deps.log, signal })).rejects.toThrow(
    'Namespace no-such-namespace is not found',
  );
});
