import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '#dev/stack/ports.ts';
import { startPostgres, type Postgres } from '#dev/stack/postgres.ts';
import { migrate } from '#migrations/migrate.ts';
import type { ApiClient } from '#test/support/client.ts';
import { signUp, type Person } from '#test/support/people.ts';
import { createRoutine, routineBody } from '#test/support/routines.ts';
import { startService, type Service } from '#test/support/service.ts';

let dataDir: string;
let port: number;
let postgres: Postgres;
let service: Service;
let person: Person;
let key: ApiClient;
let routineId: string;

/** Starts a Postgres of this file's own, which the file may stop. */
async function start(): Promise<Postgres> {
  return startPostgres({
    dataDir: path.join(dataDir, 'postgres'),
    port,
    log: () => undefined,
    settings: { fsync: 'off', shared_buffers: '16MB' },
  });
}

beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'ras-away-'));
  port = await freePort();
  postgres = await start();
  await migrate(postgres.url);
  service = await startService({ env: { DATABASE_URL: postgres.url } });
  person = await signUp(service);
  key = await person.key();
  routineId = await createRoutine(key);
});
afterAll(async () => {
  await service.close();
  await postgres.stop();
  await rm(dataDir, { recursive: true, force: true });
});

test('without Postgres every operation is 503 with Retry-After, for keys and for sessions, and well again without a restart', async () => {
  await postgres.stop();
  const calls: [string, () => ReturnType<ApiClient['get']>][] = [
    ['a read with a key', () => key.get(`/v1/routines/${routineId}`)],
    ['a list with a key', () => key.get('/v1/runs')],
    ['a write with a key', () => key.post('/v1/routines', routineBody())],
    ['a manual run', () => key.post(`/v1/routines/${routineId}/run`)],
    ['a read with a session', () => person.session.get('/v1/routines')],
    ['a write with a session', () => person.session.post('/v1/organizations', { name: 'x' })],
    ['readiness', () => service.anonymous.get('/ready')],
  ];
  for (const [name, call] of calls) {
    const answer = await call();
    expect([name, answer.status, answer.body?.error.code]).toEqual([name, 503, 'service_unavailable']);
    expect([name, answer.headers.get('retry-after')]).toEqual([name, '5']);
  }
  const signIn = await service.anonymous
    .with({ Origin: service.config.UI_ORIGIN })
    .post('/auth/sign-in/email', { email: person.email, password: 'correct-horse-battery' });
  expect([signIn.status, signIn.headers.get('retry-after')]).toEqual([503, '5']);
  expect((await service.anonymous.get('/health')).status).toBe(200);

  postgres = await start();
  await expect.poll(async () => (await key.get(`/v1/routines/${routineId}`)).status).toBe(200);
  expect((await service.anonymous.get('/ready')).status).toBe(200);
  expect((await person.session.get('/v1/routines')).status).toBe(200);
  expect((await key.post('/v1/routines', routineBody())).status).toBe(201);
});

test('a request that is under way when Postgres goes is 503 too', async () => {
  const asked = Array.from({ length: 40 }, (_, index) =>
    index % 2 === 0 ? key.get('/v1/routines') : key.post('/v1/routines', routineBody()),
  );
  const stopped = postgres.stop();
  const later = Array.from({ length: 40 }, () => key.get('/v1/runs'));
  const answers = await Promise.all([...asked, ...later]);
  await stopped;
  for (const { status, body } of answers) {
    expect([200, 201, 503]).toContain(status);
    if (status === 503) expect(body.error.code).toBe('service_unavailable');
  }
  postgres = await start();
  await expect.poll(async () => (await key.get('/v1/routines')).status).toBe(200);
});
