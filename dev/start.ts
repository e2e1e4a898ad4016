/** Entry of `npm start`: starts the service with everything that it needs on this machine, and runs until Ctrl-C. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { readSecretFiles } from '#lib/config/index.ts';
import { migrate } from '#migrations/migrate.ts';
import type { Child } from './stack/child.ts';
import { superviseChildren, type Children } from './stack/children.ts';
import { DATA_DIR, localSecrets, readPorts, type Ports } from './stack/environment.ts';
import { startModelAccounts } from './stack/model-accounts.ts';
import { readEnvFile } from './stack/env-file.ts';
import { setDataAside, withWayOut } from './stack/fresh.ts';
import { elapsed, reportProgress } from './stack/progress.ts';
import { findModels } from './stack/models/find.ts';
import { seedDemo } from './stack/seed.ts';
import { stopOnSignals } from './stack/shutdown.ts';
import { summary } from './stack/summary.ts';
import { startCatcher } from './fakes/mail/start.ts';
import { assertPortsFree, serviceEnvironment, startFixtureGateway, startPayments } from './stack/services.ts';
import { serveDemoTools } from './demo/tools.ts';
import { WATCH } from './stack/watch.ts';

const ROOT = path.dirname(DATA_DIR);
const startedAt = Date.now();
const progress = reportProgress((message) => console.log(`  ${message}`), { startedAt });
const { log, during } = progress;

try {
  const { values } = parseArgs({
    options: {
      watch: { type: 'boolean', default: false },
      payments: { type: 'boolean', default: false },
      fixture: { type: 'boolean', default: false },
      fresh: { type: 'boolean', default: false },
    },
  });
  const { env, hints } = readEnvFile(path.join(ROOT, '.env'), process.env);
  for (const hint of hints) log(hint);
  // Reads the files here, because the start sets most secrets itself and a process refuses a secret with both a value
  // and a file.
  const { present, faults } = readSecretFiles(env);
  if (faults.length > 0) throw new Error(faults.join('\n'));
  // A local start is for development, even if its `.env` is meant for production.
  await start({ ...present, NODE_ENV: 'development' }, values);
} catch (error) {
  console.error(`\n${text(error)}\n`);
  process.exit(1);
}

interface StartOptions {
  readonly watch: boolean;
  /** Also starts a payment processor that moves no money; without one, all plans have every allowance. */
  readonly payments: boolean;
  /** Uses the fixture gateway even if there is a real model server. */
  readonly fixture: boolean;
  /** Moves the data of earlier starts aside first. */
  readonly fresh: boolean;
}

async function start(env: NodeJS.ProcessEnv, { watch, payments, fixture, fresh }: StartOptions): Promise<void> {
  const ports = readPorts(env);
  if (fresh) await setDataAside(DATA_DIR, log);
  mkdirSync(DATA_DIR, { recursive: true });
  const children = await superviseChildren({ dataDir: DATA_DIR, log, onUnexpectedExit: giveUp });
  let stopping: Promise<void> | undefined;
  const stop = () => (stopping ??= children.stopAll());
  stopOnSignals(async () => {
    progress.stop();
    console.log('\nStopping …');
    await stop();
  });
  try {
    await assertPortsFree(ports, env, payments);
    const models = await during('models', findModels({ env, dataDir: DATA_DIR, fixture }));
    log(`Models: ${models.summary}`);
    for (const note of models.notes) log(note);
    const notes = [...models.notes];
    const base = baseEnvironment(ports, env);
    const [services, modelAccounts, payment, gateway] = await Promise.all([
      serviceEnvironment(ports, env, children, progress),
      during(
        'model accounts',
        startModelAccounts({
          ports,
          dataDir: DATA_DIR,
          env,
          uiOrigin: base.UI_ORIGIN,
          secret: base.MODEL_RUNTIME_SECRET,
          note: (sentence) => notes.push(sentence),
          spawn: children.spawn,
        }),
      ),
      payments ? startPayments(ports, env, children) : {},
      models.variables ?? startFixtureGateway(ports, env, children),
    ]);
    const built = watch ? undefined : during('the pages', buildDashboard(env, children));
    // The wait for the pages below reports a failure; until then the failure must not count as unhandled.
    built?.catch(() => undefined);
    const environment = { ...services, ...base, ...modelAccounts, ...payment, ...gateway };
    await during('migrations', migrate(environment.DATABASE_URL));
    const node = watch ? WATCH : [];
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
    const tools = during('the tool server', serveDemoTools(ports.tools));
    tools.catch(() => undefined);
    const catcher = during('the mail catcher', startCatcher({ smtpPort: ports.smtp, port: ports.mail, ...dev }));
    catcher.catch(() => undefined);
    const processes = [
      await run('API', 'api/server.ts'),
      await run('Worker', 'workers/main.ts', workerMetricsPort(env)),
    ];
    const api = `http://localhost:${ports.api}`;
    const [mail] = await Promise.all([catcher, during('the API', untilReady(api, processes))]);
    const { UI_ORIGIN: uiOrigin } = base;
    const { DATABASE_URL: databaseUrl } = environment;
    const seed = { dataDir: DATA_DIR, databaseUrl, uiOrigin, mail, model: models.demo };
    const seeded = tools
      .then(({ url: toolServer }) => seedDemo(api, { ...seed, toolServer }))
      .catch((error: unknown): undefined => {
        notes.push(`The demo could not be made, and the next start tries again: ${text(error)}`);
      });
    await built;
    const dashboard = `http://localhost:${ports.ui}`;
    const pages = await run('Dashboard', watch ? 'ui/dev.ts' : 'ui/server.ts');
    await during('the dashboard', untilReady(dashboard, [pages]));
    const demo = await during('the demo', seeded);
    if (demo?.leftToDo !== undefined) notes.push(demo.leftToDo);
    progress.stop();
    const addresses = {
      dashboard,
      api,
      temporalUi: env['TEMPORAL_ADDRESS'] ? null : `http://localhost:${ports.temporalUi}`,
      mail,
    };
    const readyAfter = elapsed(startedAt);
    console.log(summary({ addresses, demo, models: models.summary, notes, payments, readyAfter }));
    const told = await demo?.firstRun;
    if (told !== undefined && stopping === undefined) log(told);
  } catch (error) {
    await stop();
    throw withWayOut(error, DATA_DIR, env['DATABASE_URL']);
  }

  function giveUp(child: Child): void {
    if (stopping !== undefined) return;
    console.error(`\n${child.name} ended by itself. Its last lines:\n\n${child.outputTail()}`);
    void stop().then(() => process.exit(1));
  }
}

function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Builds the pages if their sources have changed since the last build. */
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

/** Returns the metrics port of the worker, ten above the API's, because two processes cannot share one. */
function workerMetricsPort({ METRICS_PORT: port }: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return port === undefined || port === '' || port === '0' ? {} : { METRICS_PORT: String(Number(port) + 10) };
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
    // The dashboard is the trusted proxy, and names the caller's address.
    TRUSTED_PROXIES: env['TRUSTED_PROXIES'] ?? '127.0.0.0/8,::1',
    ALLOW_PRIVATE_NETWORK: env['ALLOW_PRIVATE_NETWORK'] ?? 'true',
    // Lets assistants on this machine sign in without an entry by `npm run assistants:enter`.
    OAUTH_CLIENT_REGISTRATION_ENABLED: env['OAUTH_CLIENT_REGISTRATION_ENABLED'] ?? 'true',
    // Mail of a local start does not leave the machine.
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
