/** Entry: `node workers/main.ts` works on runs, ticks and deliveries until SIGTERM or SIGINT. */
import { loadConfig } from '#lib/config/index.ts';
import { createLog } from '#lib/log.ts';
import { serveMetrics } from '#lib/metrics/index.ts';
import { installRuntime } from '#lib/temporal/index.ts';
import { openServices } from '#core/services.ts';
import { startWorkers, type StartedWorkers } from './start.ts';
import { untilReached } from './until-reached.ts';

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

let started: StartedWorkers | undefined;
try {
  const { TEMPORAL_ADDRESS: address, TEMPORAL_TASK_QUEUE: taskQueue } = config;
  const { signal } = starting;
  started = await untilReached(() => startWorkers(config, services, signal), {
    address,
    log,
    signal,
  });
  // The runtime hands a signal only to workers that run already.
  if (started !== undefined && !signal.aborted) {
    log.info({ taskQueue }, 'worker started');
    await started.run();
  }
} catch (err) {
  log.fatal({ err }, 'worker failed');
  process.exitCode = 1;
} finally {
  await started?.close();
  await metricsServer?.close();
  await services.close();
  log.info('worker stopped');
}
// A start that was abandoned would hold the process for as long as the native half goes on with it.
process.exit();
