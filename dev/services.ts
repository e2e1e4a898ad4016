import path from 'node:path';
import type { Children } from './children.ts';
import { DATA_DIR, PORT_VARIABLES, type Ports } from './environment.ts';
import { paymentEnvironment } from './payments/local.ts';
import { assertPortFree } from './ports.ts';
import { startPostgres } from './postgres.ts';
import { ensureTemporalBinary } from './temporal/binary.ts';
import { startTemporal } from './temporal/server.ts';
import type { Log } from './child.ts';

const ROOT = path.dirname(DATA_DIR);

/** Returns the addresses of Postgres, Temporal and the model gateway: the user's own where given, else started here. */
export async function serviceEnvironment(
  ports: Ports,
  env: NodeJS.ProcessEnv,
  children: Children,
  log: Log,
) {
  const { spawn, guard } = children;
  const [databaseUrl, temporalAddress, gateway] = await Promise.all([
    env['DATABASE_URL'] ||
      startPostgres({
        dataDir: path.join(DATA_DIR, 'postgres'),
        port: ports.postgres,
        log,
        spawn,
      }).then(({ url }) => url),
    env['TEMPORAL_ADDRESS'] ||
      ensureTemporalBinary({ env, onProgress: log, guard }).then(async ({ path: binary }) => {
        const server = await startTemporal({
          binary,
          dataDir: path.join(DATA_DIR, 'temporal'),
          port: ports.temporal,
          uiPort: ports.temporalUi,
          log,
          spawn,
        });
        return server.address;
      }),
    env['GATEWAY_BASE_URL'] ? {} : startFixtureGateway(ports, env, children),
  ]);
  const ui = env['TEMPORAL_ADDRESS']
    ? {}
    : { TEMPORAL_UI_URL: env['TEMPORAL_UI_URL'] || `http://localhost:${ports.temporalUi}` };
  return { DATABASE_URL: databaseUrl, TEMPORAL_ADDRESS: temporalAddress, ...ui, ...gateway };
}

async function startFixtureGateway(ports: Ports, env: NodeJS.ProcessEnv, children: Children) {
  await children.spawn({
    name: 'Gateway',
    command: process.execPath,
    args: ['dev/gateway/main.ts'],
    cwd: ROOT,
    env: { ...env, GATEWAY_PORT: String(ports.gateway) },
    logFile: path.join(DATA_DIR, 'gateway.log'),
  });
  return {
    GATEWAY_BASE_URL: `http://127.0.0.1:${ports.gateway}/v1`,
    GATEWAY_API_KEY: 'fixture',
    FIXTURE_MODE: 'true',
  };
}

/** Starts the payment processor, and returns the variables by which API and worker use it. */
export async function startPayments(ports: Ports, env: NodeJS.ProcessEnv, children: Children) {
  await children.spawn({
    name: 'Payments',
    command: process.execPath,
    args: ['dev/payments/main.ts'],
    cwd: ROOT,
    env: { ...env, PAYMENTS_PORT: String(ports.payments), PORT: String(ports.api) },
    logFile: path.join(DATA_DIR, 'payments.log'),
  });
  return {
    COMMERCIAL_ACQUISITION_ENABLED: 'true',
    CHECKOUT_ENABLED: 'true',
    ...paymentEnvironment(`http://127.0.0.1:${ports.payments}`),
  };
}

/** Throws where another process listens on a port that a service started here needs. */
export async function assertPortsFree(
  ports: Ports,
  env: NodeJS.ProcessEnv,
  payments: boolean,
): Promise<void> {
  const own = { postgres: env['DATABASE_URL'], temporal: env['TEMPORAL_ADDRESS'] };
  const needed: (keyof Ports)[] = [
    'api',
    'ui',
    'tools',
    'smtp',
    'mail',
    'modelProviders',
    'modelSignIn',
    'modelRuntime',
  ];
  if (!own.postgres) needed.push('postgres');
  if (!own.temporal) needed.push('temporal', 'temporalUi');
  if (!env['GATEWAY_BASE_URL']) needed.push('gateway');
  if (payments) needed.push('payments');
  for (const name of needed) await assertPortFree(ports[name], PORT_VARIABLES[name][0]);
}
