import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { CLIENT_ADDRESS_HEADER, createAuth } from '#core/accounts/identity/index.ts';
import type { Child } from '#dev/stack/child.ts';
import { freePort } from '#dev/stack/ports.ts';
import { loadConfig, type Config } from '#lib/config/index.ts';
import { openDatabase, type Database } from '#lib/database/index.ts';
import { createSecretBox } from '#lib/secrets/index.ts';
import type { ApiClient } from '#test/support/client.ts';
import { newEmail, PASSWORD, signIn, type Person } from '#test/support/people.ts';
import { activeRoutine } from '#test/support/routines.ts';
import { bareClient } from '../bare/client.ts';
import type { Stack } from './stack.ts';

/** The service as it runs in production: API and worker as processes of their own, on a Temporal server of its own. */
export interface Service {
  readonly url: string;
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  readonly temporalPid: number;
  /** A database pool beside the service's own, for loading rows and for watching runs. */
  readonly database: Database;
  /** Temporal client of the baselines. */
  readonly temporal: Client;
  readonly projectId: string;
  readonly organizationId: string;
  /** Calls with an API key of the project; `authorization` is its header. */
  readonly client: ApiClient;
  readonly authorization: string;
  /** Calls as the person whose project it is. */
  readonly session: ApiClient;
  readonly api: Child;
  /** Undefined when the service was started without a worker. */
  readonly worker: Child | undefined;
  /** Environment of the service's processes, with which a benchmark can start one more. */
  readonly env: Readonly<Record<string, string>>;
  readonly stop: () => Promise<void>;
}

const TASK_QUEUE = 'routines';

export async function startService(
  stack: Stack,
  {
    worker: withWorker = true,
    env: over = {},
    pooler,
  }: {
    worker?: boolean;
    env?: Readonly<Record<string, string>>;
    /** Port of a pooler, which the service's processes use instead of the port of Postgres. */
    pooler?: number | undefined;
  } = {},
): Promise<Service> {
  const [databaseUrl, temporalServer, port] = await Promise.all([
    stack.createDatabase(),
    stack.startTemporal(),
    freePort(),
  ]);
  const url = `http://localhost:${port}`;
  const env = {
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    PORT: String(port),
    // Address of a proxy that does not exist: benchmarks send their requests directly to the API.
    PUBLIC_URL: `https://localhost:${port}`,
    UI_ORIGIN: `https://localhost:${port}`,
    SIGN_UP: 'closed',
    TRUSTED_PROXIES: '127.0.0.0/8,::1',
    DATABASE_URL: pooler === undefined ? databaseUrl : pooled(databaseUrl, pooler),
    TEMPORAL_ADDRESS: temporalServer.address,
    TEMPORAL_TASK_QUEUE: TASK_QUEUE,
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    BETTER_AUTH_SECRET: randomBytes(32).toString('base64'),
    SCHEDULER_SECRET: randomBytes(32).toString('base64'),
    GATEWAY_BASE_URL: stack.gatewayUrl,
    GATEWAY_API_KEY: 'fixture',
    // A benchmark is one caller that makes more requests than any plan allows, so the limit is out of reach.
    RATE_LIMIT_PER_MINUTE: '1000000',
    ...over,
  };
  const api = await stack.run('API', 'api/server.ts', env);
  const worker = withWorker ? await stack.run('Worker', 'workers/main.ts', env) : undefined;
  await untilReady(url, api);
  const database = openDatabase({ url: databaseUrl, poolSize: 10, applicationName: 'bench' });
  const temporal = await bareClient(temporalServer.address);
  const person = await signUpPast(database, { url, config: loadConfig('api', env) });
  const client = await person.key();
  return {
    url,
    env,
    databaseUrl,
    temporalAddress: temporalServer.address,
    temporalPid: temporalServer.pid,
    database,
    temporal,
    api,
    worker,
    projectId: person.projectId,
    organizationId: person.organizationId,
    client,
    authorization: client.headers['Authorization'] ?? '',
    session: person.session,
    async stop() {
      await Promise.all([api.stop(), worker?.stop()]);
      await temporal.connection.close();
      await database.end();
      await temporalServer.stop();
    },
  };
}

/** Creates an active routine, whose runs can start at once. */
export function demoRoutine(service: Service): Promise<string> {
  return activeRoutine(service.client, { instructions: 'Write one line.' });
}

function pooled(databaseUrl: string, port: number): string {
  const url = Object.assign(new URL(databaseUrl), { port });
  url.searchParams.set('pgbouncer', 'true');
  return url.href;
}

export async function untilReady(url: string, api: Child): Promise<void> {
  for (;;) {
    const response = await fetch(`${url}/ready`).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.ok === true) return;
    if (api.exit() !== undefined) throw new Error(`The API did not start:\n${api.outputTail()}`);
    await sleep(100);
  }
}

/** Returns the resident memory of a process in megabytes (Linux only). */
export async function residentMb({ pid }: Child): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1_024;
}

/** Creates an account directly, because sign-up is closed: an open sign-up needs a mail server in production. */
async function signUpPast(database: Database, { url, config }: { url: string; config: Config }): Promise<Person> {
  const auth = createAuth({
    database,
    secrets: createSecretBox({
      current: config.ENCRYPTION_KEY,
      previous: config.ENCRYPTION_KEY_PREVIOUS,
    }),
    publicUrl: config.PUBLIC_URL,
    uiOrigin: config.UI_ORIGIN,
    secret: config.BETTER_AUTH_SECRET,
    productTag: config.PRODUCT_TAG,
    signUp: 'open',
    maxOrganizations: config.MAX_ORGANIZATIONS_PER_PERSON,
    mails: undefined,
    leaveOrganizations: async () => {},
    endPrograms: async () => {},
  });
  const email = newEmail();
  const { status } = await auth.handler(
    new Request(`${config.PUBLIC_URL}/auth/sign-up/email`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Origin: config.UI_ORIGIN,
        [CLIENT_ADDRESS_HEADER]: '127.0.0.1',
      },
      body: JSON.stringify({ email, password: PASSWORD, name: 'Bench' }),
    }),
  );
  if (status !== 200) throw new Error(`signing up gave ${status}`);
  return signIn({ url, config }, email);
}
