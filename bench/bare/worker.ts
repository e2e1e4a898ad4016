/** The baseline of runs: a worker with the product's settings, for workflows that do nothing. */
import { fileURLToPath } from 'node:url';
import { NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { BARE_TASK_QUEUE } from './client.ts';

Runtime.install({ shutdownSignals: ['SIGINT', 'SIGTERM'] });
const connection = await NativeConnection.connect({
  address: process.env['TEMPORAL_ADDRESS'] ?? '',
});
const worker = await Worker.create({
  connection,
  taskQueue: BARE_TASK_QUEUE,
  workflowsPath: fileURLToPath(new URL('workflows.ts', import.meta.url)),
  activities: { nothing: () => Promise.resolve() },
  maxConcurrentActivityTaskExecutions: 50,
  maxConcurrentWorkflowTaskExecutions: 40,
});
await worker.run();
await connection.close();
