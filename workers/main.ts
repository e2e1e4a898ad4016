/** Entry: `node workers/main.ts` works on runs, ticks and deliveries until SIGTERM or SIGINT. */
import { WorkflowIdConflictPolicy } from '@temporalio/common';
import { NativeConnection, Runtime } from '@temporalio/worker';
import { loadConfig } from '#lib/config/index.ts';
import { createLog } from '#lib/log.ts';
import { connectionOptions, SCHEDULER_WORKFLOW_ID, WORKFLOW } from '#lib/temporal/index.ts';
import { openServices } from '#core/services.ts';
import { createWorkers } from './worker.ts';

const config = loadConfig('worker');
const log = createLog({ level: config.LOG_LEVEL, name: 'worker' });
Runtime.install({ logger: temporalLogger(), shutdownSignals: ['SIGINT', 'SIGTERM'] });

const services = await openServices(config, log);
const connection = await NativeConnection.connect(await connectionOptions(config));
const workers = await createWorkers({
  connection,
  namespace: config.TEMPORAL_NAMESPACE,
  taskQueue: config.TEMPORAL_TASK_QUEUE,
  concurrency: config.WORKER_CONCURRENCY,
  shutdownGraceSeconds: config.WORKER_SHUTDOWN_GRACE_SECONDS,
  deps: services.deps,
});

await services.temporal.workflow.start(WORKFLOW.scheduler, {
  taskQueue: config.TEMPORAL_TASK_QUEUE,
  workflowId: SCHEDULER_WORKFLOW_ID,
  workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
  staticSummary: 'ticks every minute',
  args: [],
});

try {
  log.info({ taskQueue: config.TEMPORAL_TASK_QUEUE }, 'worker started');
  await workers.run();
} finally {
  await connection.close();
  await services.close();
  log.info('worker stopped');
}

function temporalLogger() {
  const write = (level: 'debug' | 'info' | 'warn' | 'error') => (message: string, meta?: object) =>
    log[level]({ temporal: meta }, message);
  return {
    log: (level: string, message: string, meta?: object) =>
      log[level === 'ERROR' ? 'error' : level === 'WARN' ? 'warn' : 'debug'](
        { temporal: meta },
        message,
      ),
    trace: write('debug'),
    debug: write('debug'),
    info: write('debug'),
    warn: write('warn'),
    error: write('error'),
  };
}
