/** Entry: `node workers/main.ts` works on runs, ticks and deliveries until SIGTERM or SIGINT. */
import type { NativeConnection } from '@temporalio/worker';
import { loadConfig } from '#lib/config/index.ts';
import { createLog } from '#lib/log.ts';
import { serveMetrics } from '#lib/metrics/index.ts';
import {
  ensureSearchAttributes,
  installRuntime,
  SEARCH_ATTRIBUTE_NAMES,
} from '#lib/temporal/index.ts';
import { openServices } from '#core/services.ts';
import { connectWorker } from './connect.ts';
import { keepScheduler } from './scheduler.ts';
import { createWorkers } from './worker.ts';

const config = loadConfig('worker');
const log = createLog({ level: config.LOG_LEVEL, name: 'worker' });
const { METRICS_HOST: host, TEMPORAL_METRICS_PORT: port } = config;
installRuntime(log, {
  shutdownSignals: ['SIGINT', 'SIGTERM'],
  metricsAddress:
    port === undefined ? undefined : `${host.includes(':') ? `[${host}]` : host}:${port}`,
});

const services = await openServices(config, log, 'ras-worker');
const metricsServer =
  config.METRICS_PORT === undefined
    ? undefined
    : await serveMetrics(services.registry, {
        host: config.METRICS_HOST,
        port: config.METRICS_PORT,
      });
const starting = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => starting.abort());

const connection = await connectWorker(config, log, starting.signal);
try {
  if (connection !== undefined) await work(connection);
} finally {
  await connection?.close();
  await metricsServer?.close();
  await services.close();
  log.info('worker stopped');
}

/** Works until a signal, which the Temporal runtime hears, has been obeyed. */
async function work(connection: NativeConnection): Promise<void> {
  await registerSearchAttributes(connection);
  const workers = await createWorkers({
    connection,
    namespace: config.TEMPORAL_NAMESPACE,
    taskQueue: config.TEMPORAL_TASK_QUEUE,
    concurrency: config.WORKER_CONCURRENCY,
    workflowConcurrency: config.WORKER_WORKFLOW_CONCURRENCY,
    maxCachedWorkflows: config.WORKER_MAX_CACHED_WORKFLOWS,
    shutdownGraceSeconds: config.WORKER_SHUTDOWN_GRACE_SECONDS,
    deps: services.deps,
  });
  const scheduler = await keepScheduler({
    client: services.temporal,
    taskQueue: config.TEMPORAL_TASK_QUEUE,
    log,
  });
  try {
    log.info({ taskQueue: config.TEMPORAL_TASK_QUEUE }, 'worker started');
    await workers.run();
  } finally {
    scheduler.stop();
  }
}

/** Where these credentials may not, an administrator has to; if nobody has, the server refuses every run. */
async function registerSearchAttributes(connection: NativeConnection): Promise<void> {
  try {
    const registered = await ensureSearchAttributes(
      connection.operatorService,
      config.TEMPORAL_NAMESPACE,
    );
    if (registered.length > 0) log.info({ registered }, 'search attributes registered');
  } catch (err) {
    log.warn(
      { err, needed: SEARCH_ATTRIBUTE_NAMES },
      'search attributes could not be checked; runs cannot start without them',
    );
  }
}
