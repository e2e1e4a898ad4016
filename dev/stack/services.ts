import path from 'node:path';
import type { Children } from './children.ts';
import { DATA_DIR, PORT_VARIABLES, type Ports } from './environment.ts';
import { paymentEnvironment } from '../fakes/payments/local.ts';
import { assertPortFree } from './ports.ts';
import { startPostgres } from './postgres.ts';
import type { Progress } from './progress.ts';
import { ensureTemporalBinary } from './temporal/binary.ts';
import { startTemporal } from './temporal/server.ts';

const ROOT = path.dirname(DATA_DIR);

/** Returns the addresses of Postgres and Temporal: the user's own if given, else those of servers started here. */
export async function serviceEnvironment(
  ports: Ports,
  env: NodeJS.ProcessEnv,
  children: Children,
  { log, during }: Progress,
) {
  const { spawn, guard } = children;
  const startOwnPostgres = async () => {
    const dataDir = path.join(DATA_DIR, 'postgres');
    const { url } = await startPostgres({ dataDir, port: ports.postgres, log, spawn });
    return url;
  };
  const startOwnTemporal = async () => {
    const { path: binary } = await ensureTemporalBinary({ env, onProgress: log, guard });
    const { address } = await startTemporal({
      binary,
      dataDir: path.join(DATA_DIR, 'temporal'),
      port: ports.temporal,
      uiPort: ports.temporalUi,
      log,
      spawn,
    });
    return address;
  };
  const [databaseUrl, temporalAddress] = await Promise.all([
    env['DATABASE_URL'] || during('Postgres', startOwnPostgres()),
    env['TEMPORAL_ADDRESS'] || during('Temporal', startOwnTemporal()),
  ]);
  const ui = env['TEMPORAL_ADDRESS']
    ? {}
    : { TEMPORAL_UI_URL: env['TEMPORAL_UI_URL'] || `http://localhost:${ports.temporalUi}` };
  return { DATABASE_URL: databaseUrl, TEMPORAL_ADDRESS: temporalAddress, ...ui };
}

/** Starts the fixture gateway, and returns the variables that make it the only gateway of API and worker. */
export async function startFixtureGateway(
  ports: Ports,
  env: NodeJS.ProcessEnv,
  children: Children,
): Promise<Record<string, string>> {
  await assertPortFree(ports.gateway, PORT_VARIABLES.gateway[0]);
  await children.spawn({
    name: 'Gateway',
    command: process.execPath,
    args: ['dev/fakes/gateway/main.ts'],
    cwd: ROOT,
    env: { ...env, GATEWAY_PORT: String(ports.gateway) },
    logFile: path.join(DATA_DIR, 'gateway.log'),
  });
  return {
    GATEWAY_BASE_URL: `http://127.0.0.1:${ports.gateway}/v1`,
    GATEWAY_API_KEY: 'fixture',
    GATEWAYS_FILE: '',
    FIXTURE_MODE: 'true',
  };
}

/** Starts the payment processor, and returns the variables with which API and worker use it. */
export async function startPayments(ports: Ports, env: NodeJS.ProcessEnv, children: Children) {
  await children.spawn({
    name: 'Payments',
    command: process.execPath,
    args: ['dev/fakes/payments/main.ts'],
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

/** Throws when another process listens on a port that this start needs. The gateway checks its own port. */
export async function assertPortsFree(ports: Ports, env: NodeJS.ProcessEnv, payments: boolean): Promise<void> {
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
  if (payments) needed.push('payments');
  for (const name of needed) await assertPortFree(ports[name], PORT_VARIABLES[name][0]);
}
