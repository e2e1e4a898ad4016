import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, inject, onTestFailed, test } from 'vitest';
import { startGateway, type Gateway } from '#dev/fakes/gateway/server.ts';
import { freePort } from '#dev/stack/ports.ts';
import { signUp } from '#test/support/people.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';
import { openImage, type Image, type Started } from './image.ts';

const execute = promisify(execFile);
const MEGABYTE = 1_000_000;
/** Longest time for which an orchestrator waits before it kills a process. */
const STOP_WITHIN_MS = 45_000;

let image: Image;
let gateway: Gateway;
const started: Started[] = [];

beforeAll(async () => {
  gateway = await startGateway({ port: 0, log: () => undefined });
  image = await openImage('service');
});

afterAll(async () => {
  await Promise.all(started.map((each) => each.stop()));
  await image?.remove();
  await gateway?.stop();
});

test('the image is small, and its root cannot be written to', async () => {
  expect(image.bytes / MEGABYTE).toBeLessThan(500);
  for (const folder of ['/app', '/tmp']) {
    const written = image.start(['-e', `fs.writeFileSync("${folder}/x", "x")`], {});
    expect(await written.ended).toBe(1);
    expect(written.output()).toContain('EROFS');
  }
  const who = image.start(['-p', '[process.getuid(), process.getgid()].join()'], {});
  await who.ended;
  expect(who.output().trim()).toBe('1000,1000');
});

test('each command starts as a user without rights; a run succeeds, a page is served, and all stop in time', async () => {
  const [apiPort, uiPort, healthPort] = [await freePort(), await freePort(), await freePort()];
  const database = await emptyDatabase();
  const env = {
    NODE_ENV: 'development',
    LOG_LEVEL: 'info',
    HOST: '127.0.0.1',
    PORT: String(apiPort),
    PUBLIC_URL: `http://localhost:${apiPort}`,
    UI_ORIGIN: `http://localhost:${uiPort}`,
    UI_PORT: String(uiPort),
    API_URL: `http://localhost:${apiPort}`,
    WORKER_HEALTH_PORT: String(healthPort),
    DATABASE_URL_FILE: await image.secret('database-url', database),
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    TEMPORAL_TASK_QUEUE: `image-${randomBytes(4).toString('hex')}`,
    ENCRYPTION_KEY_FILE: await image.secret('encryption-key', randomBytes(32).toString('base64')),
    BETTER_AUTH_SECRET: randomBytes(32).toString('base64'),
    GATEWAY_BASE_URL: gateway.url,
    GATEWAY_API_KEY: 'image-gateway-key',
    ALLOW_PRIVATE_NETWORK: 'true',
  };
  const from = Date.now();
  const [api, worker, dashboard] = ['api/server.ts', 'workers/main.ts', 'ui/server.ts'].map((entry) =>
    image.start([entry], env),
  ) as [Started, Started, Started];
  started.push(api, worker, dashboard);
  await api.until('listening');
  await dashboard.until('listening');
  // Before the migrations, both processes wait and log the reason.
  await worker.until('the worker waits for its database');
  expect(await messageOf(`${env.API_URL}/ready`)).toMatch(/\d+ migrations from 0001_people on missing/);
  const waited = Date.now() - from;
  const migrations = image.start(['migrations/run.ts'], env);
  expect([await migrations.ended, migrations.output()]).toMatchObject([0, expect.stringContaining('migrated')]);
  await worker.until('worker started');
  // A write that the file system refused would appear here.
  expect(worker.output()).not.toMatch(/EROFS|bundl/i);
  await expect.poll(() => statusOf(`${env.API_URL}/ready`)).toBe(200);
  await query(database, "insert into migrations values (default, '9999_later', 1, now())");
  expect(await statusOf(`${env.API_URL}/ready`)).toBe(200);
  const ready = Date.now() - from;

  onTestFailed(() => console.log(api.output()));
  const person = await signUp({ url: env.API_URL, config: { UI_ORIGIN: env.UI_ORIGIN } });
  const key = await person.key();
  const run = await runOnce(key, await createRoutine(key));
  expect(run).toMatchObject({ state: 'succeeded' });
  const page = await fetch(`${env.UI_ORIGIN}/`);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<script')]);

  const stops = await Promise.all(started.splice(0).map((each) => each.stop()));
  expect(stops.map(({ code }) => code)).toEqual([0, 0, 0]);
  const longest = Math.max(...stops.map(({ ms }) => ms));
  expect(longest).toBeLessThan(STOP_WITHIN_MS);
  console.log(
    `${Math.round(image.bytes / MEGABYTE)} MB; listening after ${waited} ms, ready with migrations after ${ready} ms, stopped within ${longest} ms`,
  );
});

test('without configuration each command says what it lacks, and ends', async () => {
  for (const entry of ['api/server.ts', 'workers/main.ts', 'ui/server.ts', 'migrations/run.ts']) {
    const refused = image.start([entry], { NODE_ENV: 'production' });
    expect(await refused.ended, entry).toBe(1);
    expect(refused.output(), entry).toMatch(/^The configuration has \d+ fault/);
  }
});

test('a secret without a file, and a file of another user, are refused in a sentence', async () => {
  const mine = await image.secret('mine', 'x');
  const env = { NODE_ENV: 'production', DATABASE_URL_FILE: `${mine}-absent` };
  const refused = image.start(['migrations/run.ts'], env);
  expect([await refused.ended, refused.output().trim().split('\n').slice(1)]).toEqual([
    1,
    [`  DATABASE_URL_FILE: ${mine}-absent does not exist`],
  ]);
  await chown(`${image.root}${mine}`, 0, 0);
  const closed = image.start(['migrations/run.ts'], { ...env, DATABASE_URL_FILE: mine });
  expect([await closed.ended, closed.output()]).toEqual([
    1,
    expect.stringContaining(`DATABASE_URL_FILE: this process has no right to read ${mine}`),
  ]);
});

test('a runtime that may not make sessions says so, and serves nothing', async () => {
  const folder = '/run/runtime';
  await mkdir(`${image.root}${folder}`, { mode: 0o700 });
  await execute(process.execPath, ['runtime/certificates/main.ts', `${image.root}${folder}/tls`, 'localhost']);
  await execute('chown', ['--recursive', '1000:1000', `${image.root}${folder}`]);
  // This image has no bubblewrap. The runtime's image has it, and fails in the same way on a kernel without namespaces.
  const env = {
    NODE_ENV: 'production',
    MODEL_RUNTIME_SECRET_FILE: await image.secret('runtime-secret', randomBytes(32).toString('base64')),
    MODEL_RUNTIME_CERT_FILE: `${folder}/tls/cert.pem`,
    MODEL_RUNTIME_KEY_FILE: `${folder}/tls/key.pem`,
    MODEL_RUNTIME_STATE_DIR: folder,
  };
  const unwritable = image.start(['runtime/server.ts'], env);
  expect(await unwritable.ended).not.toBe(0);
  expect(unwritable.output()).toContain('The runtime cannot write to /tmp');
  const runtime = image.start(['runtime/server.ts'], { ...env, TMPDIR: folder });
  expect(await runtime.ended).not.toBe(0);
  expect(runtime.output()).toMatch(/bubblewrap.*let it create user namespaces/s);
});

async function query(database: string, text: string): Promise<void> {
  const client = new Client({ connectionString: database });
  await client.connect();
  await client.query(text);
  await client.end();
}

async function messageOf(url: string): Promise<string> {
  const { error } = (await (await fetch(url)).json()) as { error: { message: string } };
  return error.message;
}

async function emptyDatabase(): Promise<string> {
  const name = `image_${randomBytes(4).toString('hex')}`;
  const client = new Client({ connectionString: inject('postgresAdminUrl') });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  const url = new URL(inject('postgresAdminUrl'));
  url.pathname = name;
  return url.href;
}

async function statusOf(url: string): Promise<number | undefined> {
  return fetch(url).then(
    ({ status }) => status,
    () => undefined,
  );
}
