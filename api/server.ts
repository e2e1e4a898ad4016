/** Entry: `node api/server.ts` serves the API until SIGTERM or SIGINT. */
import { reportPriceFaults } from '#core/accounts/billing/index.ts';
import { tickSettled } from '#core/scheduling/index.ts';
import { openServices } from '#core/services.ts';
import { startingConfig } from '#lib/config/index.ts';
import { createLog } from '#lib/log.ts';
import { serveMetrics } from '#lib/metrics/index.ts';
import { onStopSignal } from '#lib/listen.ts';
import { installRuntime } from '#lib/temporal/index.ts';
import { openAccounts } from './accounts.ts';
import { createApp } from './app.ts';
import type { Deps } from './deps.ts';
import { listen } from './http/listen.ts';

const config = startingConfig('api');
const log = createLog({ level: config.LOG_LEVEL, name: 'api' });
if (config.SCHEDULER_SECRET === undefined) {
  log.warn('SCHEDULER_SECRET is not set: POST /internal/scheduler/tick responds with 503');
}
installRuntime(log);
const services = await openServices(config, log, 'ras-api');
await reportPriceFaults(services.deps.payment);
const deps: Deps = { ...services.deps, ...openAccounts(config, services.deps, log), config };
const server = await listen(createApp(deps).callback(), { host: config.HOST, port: config.PORT });
const metricsServer =
  config.METRICS_PORT === undefined
    ? undefined
    : await serveMetrics(services.registry, {
        host: config.METRICS_HOST,
        port: config.METRICS_PORT,
      });
log.info({ host: config.HOST, port: server.port }, 'listening');

onStopSignal(log, stop);

/** Ends the streams, finishes the requests under way, then the tick, then closes what they used. */
async function stop(): Promise<void> {
  deps.runFeed.close();
  await server.close();
  await tickSettled(deps);
  await metricsServer?.close();
  await services.close();
  log.info('stopped');
  // A call to Temporal that was given up would hold the process for as long as the native half goes on with it.
  process.exit();
}
