/** Entry: `node api/server.ts` serves the API until SIGTERM or SIGINT. */
import { setTimeout as sleep } from 'node:timers/promises';
import { reportPriceFaults } from '#core/accounts/billing/index.ts';
import { tickSettled } from '#core/scheduling/index.ts';
import { openServices } from '#core/services.ts';
import { startingConfig } from '#lib/config/index.ts';
import { missingMigrations } from '#lib/database/index.ts';
import { createLog } from '#lib/log.ts';
import { serveMetrics } from '#lib/metrics/index.ts';
import { onStopSignal } from '#lib/listen.ts';
import { checkEncryptionKey, UnknownKey } from '#lib/secrets/index.ts';
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
const stopping = new AbortController();
const keyChecked = await checkKey();
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
if (!keyChecked) void checkKeyLater();

onStopSignal(log, stop);

/**
 * Ends the process when the database was written with another encryption key.
 * @returns false while that is unknown: the database is down, or waits for its migrations
 */
async function checkKey(): Promise<boolean> {
  const { database, secrets } = services.deps;
  try {
    if ((await missingMigrations(database)).length > 0) return false;
    await checkEncryptionKey(database, secrets);
    return true;
  } catch (err) {
    if (!(err instanceof UnknownKey)) {
      log.warn({ err }, 'the encryption key could not be checked yet');
      return false;
    }
    log.fatal(err.message);
    process.exit(1);
  }
}

async function checkKeyLater(): Promise<void> {
  const { signal } = stopping;
  do await sleep(2_000, undefined, { signal }).catch(() => undefined);
  while (!signal.aborted && !(await checkKey()));
}

async function stop(): Promise<void> {
  stopping.abort();
  deps.runFeed.close();
  await server.close();
  await tickSettled(deps);
  await metricsServer?.close();
  await services.close();
  log.info('stopped');
  // The native part of the Temporal client continues an abandoned call, which would keep the process open.
  process.exit();
}
