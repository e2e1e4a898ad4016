/** Entry of `npm start`: brings up everything the service needs on this machine, and stays up until Ctrl-C. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { migrate } from '#migrations/migrate.ts';
import type { Child } from './child.ts';
import { superviseChildren, type Children } from './children.ts';
import { DATA_DIR, localSecrets, PORT_VARIABLES, readPorts, type Ports } from './environment.ts';
import { startModelAccounts } from './model-accounts.ts';
import { paymentEnvironment } from './payments/local.ts';
import { assertPortFree } from './ports.ts';
import { startPostgres } from './postgres.ts';
import { elapsed } from './progress.ts';
import { seedDemo } from './seed.ts';
import { stopOnSignals } from './shutdown.ts';
import { summary } from './summary.ts';
import { ensureTemporalBinary } from './temporal/binary.ts';
import { startTemporal } from './temporal/server.ts';
import { startCatcher } from './mail/start.ts';
import { startToolServer } from './tool-server.ts';

const ROOT = path.dirname(DATA_DIR);
const startedAt = Date.now();
function log(message: string) {
  return console.log(`  ${message}`);
}

try {
  await start(process.env, {
    watch: process.argv.includes('--watch'),
    payments: process.argv.includes('--payments'),
  });
} catch (error) {
  console.error(`\n${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

interface StartOptions {
  readonly watch: boolean;
  /** Starts a payment processor that moves no money, too; without it everybody has every allowance. */
  readonly payments: boolean;
}

async function start(env: NodeJS.ProcessEnv, { watch, payments }: StartOptions): Promise<void> {
  const ports = readPorts(env);
  mkdirSync(DATA_DIR, { recursive: true });
  const children = await superviseChildren({ dataDir: DATA_DIR, log, onUnexpectedExit: giveUp });
  let stopping: Promise<void> | undefined;
  const stop = () => (stopping ??= children.stopAll());
  stopOnSignals(async () => {
    console.log('\nStopping …');
    await stop();
  });
  try {
    await assertPortsFree(ports, env, payments);
    const base = baseEnvironment(ports, env);
    const [services, modelAccounts, payment] = await Promise.all([
      serviceEnvironment(ports, env, children),
      startModelAccounts({
        ports,
        dataDir: DATA_DIR,
        env,
        uiOrigin: base.UI_ORIGIN,
        secret: base.MODEL_RUNTIME_SECRET,
        log,
        spawn: children.spawn,
      }),
      payments ? startPayments(ports, env, children) : {},
    ]);
    const built = watch ? undefined : buildDashboard(env, children);
    const environment = { ...services, ...base, ...modelAccounts, ...payment };
    await migrate(environment.DATABASE_URL);
    const node = watch ? ['--watch', '--watch-preserve-output'] : [];
    const run = (name: string, file: string, own: NodeJS.ProcessEnv = {}) =>
      children.spawn({
        name,
        command: process.execPath,
        args: [...node, file],
        cwd: ROOT,
        env: { ...env, ...environment, ...own },
        logFile: path.join(DATA_DIR, `${name.toLowerCase()}.log`),
        stop: { graceMs: 15_000 },
      });
    const dev = { dataDir: DATA_DIR, env, spawn: children.spawn };
    const tools = startToolServer({ port: ports.tools, ...dev });
    const mail = await startCatcher({ smtpPort: ports.smtp, port: ports.mail, ...dev });
    const processes = [
      await run('API', 'api/server.ts'),
      await run('Worker', 'workers/main.ts', workerMetricsPort(env)),
    ];
    const api = `http://localhost:${ports.api}`;
    await untilReady(api, processes);
    const { UI_ORIGIN: uiOrigin } = base;
    const seeded = seedDemo(api, { dataDir: DATA_DIR, uiOrigin, toolServer: await tools, mail });
    await built;
    const dashboard = `http://localhost:${ports.ui}`;
    await untilReady(dashboard, [await run('Dashboard', watch ? 'ui/dev.ts' : 'ui/server.ts')]);
    const temporalUi = env['TEMPORAL_ADDRESS'] ? null : `http://localhost:${ports.temporalUi}`;
    console.log(summary({ dashboard, api, temporalUi, mail }, await seeded, elapsed(startedAt)));
  } catch (error) {
    await stop();
    throw error;
  }

  function giveUp(child: Child): void {
    if (stopping !== undefined) return;
    console.error(`\n${child.name} ended by itself. Its last lines:\n\n${child.outputTail()}`);
    void stop().then(() => process.exit(1));
  }
}

/** Builds the pages anew when their sources have changed since the last time. */
async function buildDashboard(env: NodeJS.ProcessEnv, { spawn }: Children): Promise<void> {
  const build = await spawn({
    name: 'Build of the dashboard',
    command: process.execPath,
    args: ['ui/build.ts', '--if-changed'],
    cwd: ROOT,
    env: { ...env, NODE_ENV: 'production' },
    logFile: path.join(DATA_DIR, 'ui-build.log'),
    isStarting: () => true,
  });
  const { code } = await build.exited;
  if (code !== 0) throw new Error(`The dashboard cannot be built:\n\n${build.outputTail()}`);
}

/** Two processes on one machine cannot share the port of their metrics: the worker takes the one ten above the API's. */
function workerMetricsPort({ METRICS_PORT: port }: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return port === undefined || port === '' || port === '0'
    ? {}
    : { METRICS_PORT: String(Number(port) + 10) };
}

async function assertPortsFree(
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

/** Addresses of Postgres, Temporal and the model gateway: the user's own where given, else started here. */
async function serviceEnvironment(ports: Ports, env: NodeJS.ProcessEnv, children: Children) {
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

async function startPayments(ports: Ports, env: NodeJS.ProcessEnv, children: Children) {
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

function baseEnvironment(ports: Ports, env: NodeJS.ProcessEnv) {
  const address = `http://localhost:${ports.api}`;
  return {
    NODE_ENV: 'development',
    HOST: env['HOST'] ?? '127.0.0.1',
    PORT: String(ports.api),
    PUBLIC_URL: env['PUBLIC_URL'] ?? address,
    UI_ORIGIN: env['UI_ORIGIN'] ?? `http://localhost:${ports.ui}`,
    UI_HOST: env['UI_HOST'] ?? '127.0.0.1',
    UI_PORT: String(ports.ui),
    API_URL: address,
    // The dashboard, which says for whom it asks.
    TRUSTED_PROXIES: env['TRUSTED_PROXIES'] ?? '127.0.0.0/8,::1',
    ALLOW_PRIVATE_NETWORK: env['ALLOW_PRIVATE_NETWORK'] ?? 'true',
    // No mail of a local start leaves the machine.
    SMTP_URL: `smtp://127.0.0.1:${ports.smtp}`,
    SMTP_TLS_REQUIRED: 'false',
    MAIL_FROM: 'Routine Automation <noreply@localhost>',
    ...localSecrets(DATA_DIR),
  };
}

async function untilReady(api: string, processes: readonly Child[]): Promise<void> {
  for (;;) {
    const response = await fetch(`${api}/ready`).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.ok === true) return;
    if (processes.some((child) => child.exit() !== undefined)) throw new Error('Not started.');
    await sleep(100);
  }
}
