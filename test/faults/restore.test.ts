import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Connection } from '@temporalio/client';
import pg from 'pg';
import { expect, inject, onTestFinished, test } from 'vitest';
import { superviseChildren } from '#dev/stack/children.ts';
import { startGateway, type Gateway } from '#dev/fakes/gateway/server.ts';
import { freePort } from '#dev/stack/ports.ts';
import { startPostgres } from '#dev/stack/postgres.ts';
import { migrate } from '#migrations/migrate.ts';
import type { ApiClient } from '#test/support/client.ts';
import { startNode, type NodeProcess } from '#test/support/node-process.ts';
import { signUp } from '#test/support/people.ts';
import { FULL_SIZE } from '#test/support/properties.ts';
import { activeRoutine } from '#test/support/routines.ts';
import { startReceiver } from './receiver.ts';

const execute = promisify(execFile);
const BINARIES = serverWithDump();
if (FULL_SIZE && BINARIES === undefined) {
  console.warn('Skipped: no Postgres with its pg_dump is installed; Debian has it as postgresql.');
}

/** Returns Debian's folder of the newest installed server, which has a `pg_dump` of its own version. */
function serverWithDump(): string | undefined {
  const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql') : [];
  const folders = versions
    .toSorted((a, b) => Number(b) - Number(a))
    .map((version) => `/usr/lib/postgresql/${version}/bin`);
  return folders.find((folder) => existsSync(`${folder}/postgres`) && existsSync(`${folder}/pg_dump`));
}

test.runIf(FULL_SIZE && BINARIES !== undefined)(
  'a dump under load, restored beside a new Temporal namespace, ends every run once and sends nothing twice',
  async () => {
    const bin = (name: string) => path.join(BINARIES!, name);
    const folder = await mkdtemp(path.join(tmpdir(), 'ras-drill-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const children = await superviseChildren({ dataDir: folder, log: () => undefined });
    onTestFinished(() => children.stopAll());
    const postgres = await startPostgres({
      dataDir: path.join(folder, 'postgres'),
      port: await freePort(),
      log: () => undefined,
      spawn: children.spawn,
      binaries: { initdb: bin('initdb'), postgres: bin('postgres') },
    });
    await migrate(postgres.url);
    const gateway = await startGateway({ port: 0, log: () => undefined });
    onTestFinished(() => gateway.stop());
    gateway.control.script({ times: null, latencyMs: 400 });
    const receiver = await startReceiver(() => 50);
    onTestFinished(() => receiver.close());

    const secrets = {
      ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      BETTER_AUTH_SECRET: randomBytes(32).toString('base64'),
    };
    const before = await startSystem(postgres.url, gateway, secrets);
    const key = await (await signUp({ url: before.url, config: { UI_ORIGIN: before.url } })).key();
    const routines = await Promise.all(
      [1, 2, 3, 4].map(() =>
        activeRoutine(key, { webhookUrl: receiver.url, overlap: 'allow', schedule: '0 0 29 2 *' }),
      ),
    );

    const load = putLoad(key, routines);
    await expect.poll(() => load.accepted.length).toBeGreaterThan(40);
    const file = path.join(folder, 'routines.dump');
    await execute(bin('pg_dump'), ['--format=custom', `--file=${file}`, postgres.url]);
    const atDump = load.accepted.length;
    await sleep(1_000);
    await Promise.all(before.processes.map((each) => each.end('SIGKILL')));
    await load.stop();

    const url = new URL(postgres.url);
    url.pathname = '/restored';
    const admin = await connect(postgres.adminUrl);
    await admin.query('create database restored');
    await execute(bin('pg_restore'), ['--exit-on-error', '--no-owner', `--dbname=${url.href}`, file]);
    const restored = await connect(url.href);
    await restored.query('analyze');
    expect(await migrate(url.href)).toEqual([]);
    const { rows: deliveredBefore } = await restored.query<{ id: string }>(
      "select id from webhook_deliveries where state = 'delivered'",
    );
    const open = await count(restored, "select count(*) from runs where state in ('queued', 'running')");
    // The drill proves something only if the dump contains unfinished work.
    expect(open).toBeGreaterThan(0);
    expect(deliveredBefore.length).toBeGreaterThan(0);
    const receivedBefore = new Map([...receiver.receipts].map(([id, each]) => [id, each.count]));

    const after = await startSystem(url.href, gateway, secrets);
    const here = key.at(after.url);
    await expect
      .poll(
        () =>
          count(
            restored,
            `select (select count(*) from runs where state in ('queued', 'running'))
              + (select count(*) from webhook_deliveries where state in ('pending', 'sending')) as count`,
          ),
        { interval: 500 },
      )
      .toBe(0);
    const fresh = await here.post(`/v1/routines/${routines[0]}/run`);
    expect(fresh.status).toBe(202);
    await expect.poll(async () => (await here.get(`/v1/runs/${fresh.data.id}`)).data.state).toBe('succeeded');

    const { rows: ends } = await restored.query<{
      state: string;
      reason: string | null;
      count: string;
    }>('select state, reason, count(*) from runs group by 1, 2 order by 1, 2');
    const known = ends.every(({ state, reason }) => state === 'succeeded' || reason === 'workflow_lost');
    expect([known, ends]).toEqual([true, ends]);
    // A run has one delivery and never a second one.
    const twice = `select run_id from webhook_deliveries group by run_id having count(*) > 1`;
    expect((await restored.query(twice)).rows).toEqual([]);
    const sentAgain = deliveredBefore.filter(({ id }) => receiver.receipts.get(id)?.count !== receivedBefore.get(id));
    expect(sentAgain).toEqual([]);
    const since = [...receiver.receipts].map(([id, each]) => each.count - (receivedBefore.get(id) ?? 0));
    expect(Math.max(...since)).toBe(1);
    console.log(
      `accepted until the dump ${atDump}, in all ${load.accepted.length}; restored: ${open} open, ${deliveredBefore.length} delivered; ` +
        `ends ${JSON.stringify(ends)}; sent after the restore ${since.filter((each) => each > 0).length}, twice 0`,
    );
  },
  600_000,
);

/** Starts API and worker on a database, with a namespace and a task queue of their own. */
async function startSystem(databaseUrl: string, gateway: Gateway, secrets: Record<string, string>) {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const name = `drill-${randomBytes(4).toString('hex')}`;
  const address = inject('temporalAddress');
  const connection = await Connection.connect({ address });
  await connection.workflowService.registerNamespace({
    namespace: name,
    workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
  });
  await connection.close();
  const env = {
    NODE_ENV: 'test',
    LOG_LEVEL: 'info',
    HOST: '127.0.0.1',
    PORT: String(port),
    PUBLIC_URL: url,
    UI_ORIGIN: url,
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: name,
    TEMPORAL_TASK_QUEUE: name,
    GATEWAY_BASE_URL: gateway.url,
    GATEWAY_API_KEY: 'test-gateway-key',
    ALLOW_PRIVATE_NETWORK: 'true',
    RATE_LIMIT_PER_MINUTE: '1000000',
    WORKER_CONCURRENCY: '10',
    ...secrets,
  };
  const processes: NodeProcess[] = [];
  for (const [entry, word] of [
    ['workers/main.ts', 'worker started'],
    ['api/server.ts', 'listening'],
  ] as const) {
    const process = startNode(entry, env);
    onTestFinished(async () => void (await process.end('SIGKILL')));
    // Some seconds pass until every part of the server knows a new namespace.
    await process.until(word, 120_000);
    processes.push(process);
  }
  return { url, processes };
}

/** Makes each of four clients start one run after the other, until stopped or until the API is gone. */
function putLoad(key: ApiClient, routines: readonly string[]) {
  const accepted: string[] = [];
  const work = new AbortController();
  const clients = routines.map(async (id) => {
    while (!work.signal.aborted) {
      const answer = await key.post(`/v1/routines/${id}/run`).catch(() => undefined);
      if (answer?.status === 202) accepted.push(answer.data.id);
      await sleep(40);
    }
  });
  return {
    accepted,
    async stop() {
      work.abort();
      await Promise.all(clients);
    },
  };
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

async function count(client: pg.Client, text: string): Promise<number> {
  const { rows } = await client.query<{ count: number }>(text);
  return Number(rows[0]?.count);
}
