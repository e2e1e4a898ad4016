import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '#dev/stack/ports.ts';
import { newId } from '#lib/ids.ts';
import { checkEncryptionKey, createSecretBox, rotateSecrets } from '#lib/secrets/index.ts';
import {
  changeConnections,
  EVERY,
  plantConnection,
  removeConnections,
  removeEncryptionChecks,
} from '#test/support/given.ts';
import { PASSWORD, postAuth, signUp, type Person } from '#test/support/people.ts';
import { startNode, type NodeProcess } from '#test/support/node-process.ts';
import { addSecondFactor } from '#test/support/second-factor.ts';
import { createRoutine, routineBody } from '#test/support/routines.ts';
import { startService, type Service } from '#test/support/service.ts';
import { workerProcesses, type WorkerProcesses } from '#test/support/worker-process.ts';

function newKey(): string {
  return randomBytes(32).toString('base64');
}
const [own, other] = [newKey(), newKey()];

let service: Service;
let person: Person;
let workers: WorkerProcesses;

beforeAll(async () => {
  service = await startService({ env: { ENCRYPTION_KEY: own } });
  workers = workerProcesses(service);
  person = await signUp(service);
});
afterAll(async () => {
  await workers.close();
  await service.close();
});

async function startApi(keys: Record<string, string>): Promise<NodeProcess> {
  const { config, databaseUrl } = service;
  const port = await freePort();
  return startNode('api/server.ts', {
    NODE_ENV: 'test',
    HOST: '127.0.0.1',
    PORT: String(port),
    PUBLIC_URL: `http://localhost:${port}`,
    UI_ORIGIN: config.UI_ORIGIN,
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: config.TEMPORAL_ADDRESS,
    TEMPORAL_TASK_QUEUE: config.TEMPORAL_TASK_QUEUE,
    BETTER_AUTH_SECRET: config.BETTER_AUTH_SECRET,
    GATEWAY_BASE_URL: config.GATEWAY_BASE_URL,
    GATEWAY_API_KEY: 'test-gateway-key',
    ...keys,
  });
}

async function expectRefused(started: NodeProcess): Promise<void> {
  expect(await started.exited).toBe(1);
  expect(started.output()).toMatch(/ENCRYPTION_KEY does not open .*neither does ENCRYPTION_KEY_PREVIOUS/);
  expect(started.output()).not.toMatch(/"stack"|worker started|listening/);
}

async function plantSecret(): Promise<string> {
  const id = newId('connection');
  await plantConnection(service, person.projectId, { id, url: 'http://127.0.0.1:9/mcp', token: 'opaque' });
  return id;
}

test('API and worker refuse to start with a key that opens no stored secret, and start with the right one', async () => {
  const { database } = service.deps;
  await plantSecret();
  await Promise.all([
    startApi({ ENCRYPTION_KEY: other }).then(expectRefused),
    expectRefused(workers.launch({ ENCRYPTION_KEY: other })),
  ]);

  const api = await startApi({ ENCRYPTION_KEY: own });
  await api.until('listening');
  expect(await api.end('SIGTERM')).toBe(0);
  // From now on a known text identifies the key, even if no secret is stored.
  await removeConnections(database, EVERY);
  const wrong = createSecretBox({ current: other, previous: newKey() });
  await expect(checkEncryptionKey(database, wrong)).rejects.toThrow('neither does ENCRYPTION_KEY_PREVIOUS');
  await checkEncryptionKey(database, createSecretBox({ current: other, previous: own }));
});

test('processes that start while a key is rotated start, and those with the old key alone do not afterwards', async () => {
  const { database } = service.deps;
  await removeEncryptionChecks(database, {});
  for (let time = 0; time < 30; time += 1) await plantSecret();
  const both = createSecretBox({ current: other, previous: own });
  const before = createSecretBox({ current: own, previous: other });
  const starts = Array.from({ length: 40 }, (_, index) =>
    checkEncryptionKey(database, index % 2 === 0 ? both : before),
  );
  await Promise.all([rotateSecrets(database, both, { batchSize: 3 }), ...starts]);
  await rotateSecrets(database, both);
  await checkEncryptionKey(database, createSecretBox({ current: other }));
  await expect(checkEncryptionKey(database, createSecretBox({ current: own }))).rejects.toThrow(
    'ENCRYPTION_KEY_PREVIOUS',
  );
  await rotateSecrets(database, before);
});

test('a text that no key opens any more, left from long ago, keeps no process from starting', async () => {
  const { database } = service.deps;
  await removeEncryptionChecks(database, {});
  await removeConnections(database, EVERY);
  const dead = 'v1.00000000.AAAA';
  for (const lost of [{ credentials: dead }, { credentials: dead, urlQuery: dead }]) {
    await changeConnections(database, await plantSecret(), lost);
  }
  await plantSecret();
  await checkEncryptionKey(database, createSecretBox({ current: own }));
});

test('a secret that cannot be opened is said as such, and not as a fault of a tool server or as a 500', async () => {
  const id = await plantSecret();
  const key = await person.key();
  const routineId = await createRoutine(key);
  await addSecondFactor(service.deps.database, person);
  const again = { 'Idempotency-Key': 'wrong-key-0001' };
  const body = { ...routineBody(), webhookUrl: 'https://hooks.example.com/in' };
  expect((await key.with(again).post('/v1/routines', body)).status).toBe(201);
  const replica = await service.replica({ ENCRYPTION_KEY: other });
  try {
    const there = key.at(replica.url);
    const answers = [
      await there.post(`/v1/routines/${routineId}/connections/${id}/discover`),
      await there.with(again).post('/v1/routines', body),
    ];
    const { url } = replica;
    const signedIn = await postAuth({ url, config: service.config }, '/auth/sign-in/email', {
      email: person.email,
      password: PASSWORD,
    });
    const Cookie = signedIn.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ');
    const refused = await postAuth(
      { url, config: service.config },
      '/auth/sign-in/second-factor',
      { code: '123456' },
      { Cookie },
    );
    answers.push({ ...answers[0]!, status: refused.status, body: await refused.json() });
    for (const { status, body: answer } of answers) {
      expect([status, answer.error.code]).toEqual([503, 'service_unavailable']);
      expect(answer.error.message).toMatch(/stored secret cannot be opened.*ENCRYPTION_KEY/);
    }
  } finally {
    await replica.close();
  }
});
