/** Entry: `node workers/main.ts` works on runs, ticks and deliveries until SIGTERM or SIGINT. */
import { obstacles } from '#core/upkeep/observability/index.ts';
import { openServices } from '#core/services.ts';
import { startingConfig } from '#lib/config/index.ts';
import { createLog } from '#lib/log.ts';
import { persistently } from '#lib/database/index.ts';
import { checkEncryptionKey, UnknownKey } from '#lib/secrets/index.ts';
import { serveMetrics } from '#lib/metrics/index.ts';
import { installRuntime } from '#lib/temporal/index.ts';
import { serveHealth, type Readiness } from './health.ts';
import { startWorkers, type StartedWorkers } from './start.ts';
import { untilMigrated, untilReached } from './until.ts';

const config = startingConfig('worker');
const log = createLog({ level: config.LOG_LEVEL, name: 'worker' });
const { METRICS_HOST: host, TEMPORAL_METRICS_PORT: port } = config;
installRuntime(log, {
  shutdownSignals: ['SIGINT', 'SIGTERM'],
  metricsAddress: port === undefined ? undefined : `${host.includes(':') ? `[${host}]` : host}:${port}`,
});

const services = await openServices(config, log, 'ras-worker');
const metricsServer =
  config.METRICS_PORT === undefined
    ? undefined
    : await serveMetrics(services.registry, {
        host: config.METRICS_HOST,
        port: config.METRICS_PORT,
      });
const stopping = new AbortController();
const { signal } = stopping;
for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => stopping.abort());

let started: StartedWorkers | undefined;
const healthServer =
  config.WORKER_HEALTH_PORT === undefined
    ? undefined
    : await serveHealth(readiness, {
        host: config.WORKER_HEALTH_HOST,
        port: config.WORKER_HEALTH_PORT,
      });
try {
  const { TEMPORAL_ADDRESS: address, TEMPORAL_TASK_QUEUE: taskQueue } = config;
  if (await untilMigrated(services.deps, signal)) {
    const { database, secrets } = services.deps;
    await persistently(() => checkEncryptionKey(database, secrets), signal);
    started = await untilReached(() => startWorkers(config, services, signal), {
      address,
      log,
      signal,
    });
  }
  // Do not run after a signal, which the Temporal runtime passes only to workers that already run.
  if (started !== undefined && !signal.aborted) {
    log.info({ taskQueue, buildId: config.WORKER_BUILD_ID }, 'worker started');
    await started.run();
  }
} catch (err) {
  if (err instanceof UnknownKey) log.fatal(err.message);
  else log.fatal({ err }, 'worker failed');
  process.exitCode = 1;
} finally {
  await started?.close();
  await metricsServer?.close();
  await services.close();
  await healthServer?.close();
  log.info('worker stopped');
}
// The native part of the Temporal client continues an abandoned start, which would keep the process open.
process.exit();

async function readiness(): Promise<Readiness> {
  const isWorking = started?.isPolling() === true;
  const phase = signal.aborted ? ['it drains'] : isWorking ? [] : ['it is starting'];
  return {
    obstacles: [...phase, ...Object.values(await obstacles(services.deps)).filter((each) => each !== undefined)],
    buildId: config.WORKER_BUILD_ID ?? null,
    takesRuns: isWorking && !signal.aborted && started?.takesRuns() === true,
  };
}
