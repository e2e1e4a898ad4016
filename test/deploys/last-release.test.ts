import { randomBytes } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { inject, onTestFinished, test, expect } from 'vitest';
import { startGateway } from '#dev/fakes/gateway/server.ts';
import { freePort } from '#dev/stack/ports.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { checkOutCommit, lastRelease } from '#test/support/last-release.ts';
import { endScheduler, startNode } from '#test/support/node-process.ts';
import { signUp } from '#test/support/people.ts';
import { FULL_SIZE } from '#test/support/properties.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';

const release = await lastRelease();
if (FULL_SIZE && release === undefined) {
  console.warn('Skipped: this clone does not have the last release; fetch its tags and history.');
}

test.runIf(FULL_SIZE && release !== undefined)(
  'the last release works on the schema of this one, and this one reads what it wrote',
  async () => {
    const checkout = await checkOutCommit(release!);
    onTestFinished(() => checkout.remove());
    const service = await startRelease(checkout.folder);
    const migrated = startNode('migrations/run.ts', service.env, { cwd: checkout.folder });
    expect([await migrated.exited, migrated.output()]).toEqual([0, expect.stringContaining('nothing to migrate')]);
    await expect.poll(() => statusOf(`${service.url}/ready`)).toBe(200);

    const person = await signUp({ url: service.url, config: { UI_ORIGIN: service.url } });
    const changing = ['routines', 'runs', 'connections'].flatMap((each) => [`${each}:read`, `${each}:write`]);
    const key = await person.key(['models:read', ...changing]);
    const id = await createRoutine(key);
    const run = await runOnce(key, id);
    expect(run).toMatchObject({
      state: 'succeeded',
      steps: [{ kind: 'model', state: 'succeeded' }],
    });
    const events = await fetch(`${service.url}/v1/runs/${run.id}/events`, { headers: key.headers });
    expect(await events.text()).toMatch(/event: step[^]*event: state[^]*"state":"succeeded"/);
    expect(await key.post(`/v1/routines/${id}/activate`)).toMatchObject({ status: 200 });
    expect(await key.patch(`/v1/routines/${id}`, { schedule: '30 6 * * 1' })).toMatchObject({
      status: 200,
    });
    for (const list of ['routines', 'runs', 'models', 'connections', 'skills', 'usage']) {
      expect([list, (await key.get(`/v1/${list}`)).status]).toEqual([list, 200]);
    }

    const now = await startApi(service.env);
    const here = key.at(now);
    expect((await here.get(`/v1/runs/${run.id}`)).data).toMatchObject({
      state: 'succeeded',
      result: run.result,
    });
    expect((await here.get(`/v1/routines/${id}`)).data).toMatchObject({
      state: 'active',
      schedule: '30 6 * * 1',
    });
    expect(await runOnce(here, id)).toMatchObject({ state: 'succeeded' });
    // The last release knows neither these mails nor rehearsals.
    const mail = { on: ['failed', 'held', 'question'], to: 'owners' };
    expect((await here.patch(`/v1/routines/${id}`, { notifications: { mail } })).status).toBe(200);
    expect((await key.get(`/v1/routines/${id}`)).data.notifications.mail).toEqual({ on: ['failed'], to: 'owners' });
    expect((await key.patch(`/v1/routines/${id}`, { schedule: '30 7 * * 1' })).status).toBe(200);
    expect((await here.get(`/v1/routines/${id}`)).data.notifications.mail).toEqual(mail);
    expect((await here.post(`/v1/routines/${id}/run`, { mode: 'rehearse' })).status).toBe(503);
  },
  300_000,
);

/** Starts API and worker of that release on a database with this checkout's migrations. */
async function startRelease(folder: string) {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const gateway = await startGateway({ port: 0, log: () => undefined });
  onTestFinished(() => gateway.stop());
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const taskQueue = `release-${randomBytes(6).toString('hex')}`;
  const env = {
    NODE_ENV: 'test',
    LOG_LEVEL: 'info',
    HOST: '127.0.0.1',
    PORT: String(port),
    PUBLIC_URL: url,
    UI_ORIGIN: url,
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    TEMPORAL_TASK_QUEUE: taskQueue,
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    BETTER_AUTH_SECRET: randomBytes(32).toString('base64'),
    GATEWAY_BASE_URL: gateway.url,
    GATEWAY_API_KEY: 'test-gateway-key',
    ALLOW_PRIVATE_NETWORK: 'true',
  };
  const connection = await Connection.connect({ address: env.TEMPORAL_ADDRESS });
  onTestFinished(async () => {
    await endScheduler(new Client({ connection }), taskQueue);
    await connection.close();
  });
  for (const [entry, word] of [
    ['api/server.ts', 'listening'],
    ['workers/main.ts', 'worker started'],
  ] as const) {
    const process = startNode(entry, env, { cwd: folder });
    onTestFinished(async () => void (await process.end('SIGKILL')));
    await process.until(word, 120_000);
  }
  return { url, env };
}

/** Starts an API of this checkout beside the release. */
async function startApi(env: Record<string, string>): Promise<string> {
  const port = String(await freePort());
  const api = startNode('api/server.ts', { ...env, PORT: port });
  onTestFinished(async () => void (await api.end('SIGKILL')));
  await api.until('listening', 120_000);
  return `http://localhost:${port}`;
}

async function statusOf(url: string): Promise<number | undefined> {
  return fetch(url).then(
    ({ status }) => status,
    () => undefined,
  );
}
