import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  signIn as connectTools,
  startProtectedFixture,
  type ProtectedFixture,
} from '#test/core/integrations/connections/sign-in-fixture.ts';
import {
  connectByDevice,
  startModelFixture,
  storedRow,
  type ModelFixture,
} from '#test/core/models/connections/fixture.ts';
import type { ApiClient } from '#test/support/client.ts';
import { ageProofs, ago, changeRoutines } from '#test/support/given.ts';
import { fromElsewhere, newEmail, PASSWORD, postAuth, signUp } from '#test/support/people.ts';
import { FULL_SIZE } from '#test/support/properties.ts';
import { activeRoutine, createRoutine, routineBody, runEnded, runOnce } from '#test/support/routines.ts';
import { addSecondFactor } from '#test/support/second-factor.ts';
import { workerProcesses, type WorkerProcesses } from '#test/support/worker-process.ts';
import { confirm, marker, scriptCalls } from '#test/core/integrations/tools/support.ts';

const HOUR_SECONDS = 3_600;
/** On each change, only one of the two clocks is tested. */
const CLOCKS = (
  [
    ['fast', HOUR_SECONDS],
    ['slow', -HOUR_SECONDS],
  ] as const
).slice(0, FULL_SIZE ? 2 : 1);
const WRONG = { flags: ['--import', path.join(import.meta.dirname, 'fixtures/wrong-clock.ts')] };
const WARNING = 'the clock of this machine differs from that of Postgres';

function clock(seconds: number) {
  return { WRONG_CLOCK_SECONDS: String(seconds) };
}

/** Starts an API with a wrong clock on the same database. */
async function startApi(workers: WorkerProcesses, seconds: number, env: Record<string, string> = {}): Promise<string> {
  const api = await workers.api({ ...env, ...clock(seconds) }, WRONG);
  expect(api.output()).toContain(WARNING);
  return api.url;
}

describe.each(CLOCKS)('a clock that is an hour %s', (_name, seconds) => {
  let fixture: ProtectedFixture;
  let workers: WorkerProcesses;
  beforeAll(async () => {
    fixture = await startProtectedFixture({ authorizationServer: { accessTokenSeconds: 1_800 } });
    workers = workerProcesses(fixture.service);
    const worker = await workers.start(clock(seconds), WRONG);
    expect(worker.output()).toContain(WARNING);
    const measured = Number(/"aheadSeconds":(-?\d+)/.exec(worker.output())?.[1]);
    // A busy machine measures with an error of a few seconds.
    expect(Math.abs(measured - seconds)).toBeLessThan(60);
  });
  afterAll(async () => {
    await workers?.close();
    await fixture?.close();
  });

  test('of a worker changes no run, renews no sign-in that holds, and signs webhooks that receivers accept', async () => {
    const { service, person, authorizationServer, toolServer } = fixture;
    const { session } = person;
    const received = await startReceiver();
    const mark = marker();
    const { data: connection } = await connectTools(session, 'tool-server', { url: toolServer.url });
    const created = await session.post('/v1/routines', routineBody({ instructions: mark, webhookUrl: received.url }));
    const { id: routineId, webhookSecret: secret } = created.data;
    const { data: found } = await session.post(`/v1/routines/${routineId}/connections/${connection.id}/discover`);
    await confirm(session, { routineId, connectionId: connection.id, tools: found.tools }, ['echo']);
    authorizationServer.control.tokenRequests.length = 0;
    scriptCalls(service, mark, { name: 'echo', arguments: { message: 'hello' } });
    const started = Date.now();
    const run = await runOnce(session, routineId);
    expect(run).toMatchObject({ state: 'succeeded', reason: null });
    expect(run.steps[1].tool).toMatchObject({ result: 'Echo: hello' });
    expect(authorizationServer.control.tokenRequests).toEqual([]);
    expect(Math.abs(Date.parse(run.finishedAt) - started)).toBeLessThan(10 * 60_000);
    const event = await received.first;
    expect(new Webhook(secret).verify(event.body, event.headers)).toMatchObject({ data: { id: run.id } });
    received.close();
  });

  test('of an API claims what is due, and lists its run among those of this minute', async () => {
    const { service, person } = fixture;
    const key = await person.key();
    const api = await startApi(workers, seconds);
    const routineId = await activeRoutine(key.at(api));
    const { data: before } = await key.at(api).get(`/v1/routines/${routineId}`);
    expect(before.nextRuns[0]).toBe((await key.get(`/v1/routines/${routineId}`)).data.nextRuns[0]);
    await changeRoutines(service.deps.database, routineId, { nextRunAt: ago('1 minute') });
    const cron = { 'X-Scheduler-Secret': service.config.SCHEDULER_SECRET! };
    expect((await key.at(api).with(cron).post('/internal/scheduler/tick')).status).toBe(202);
    const until = new Date(Date.now() + 60_000).toISOString();
    const since = new Date(Date.now() - 600_000).toISOString();
    const asked = `/v1/routines/${routineId}/runs?since=${since}&until=${until}`;
    const runs = async () => (await key.get(asked)).data as { id: string; trigger: string }[];
    const triggers = async () => (await runs()).map(({ trigger }) => trigger);
    await expect.poll(triggers).toEqual(['schedule', 'manual']);
    expect(await runEnded(key, (await runs())[0]!.id)).toMatchObject({ state: 'succeeded' });
  });

  test('of an API lets people sign in with a second factor, prove who they are, and come back from an OAuth server', async () => {
    const { service, toolServer } = fixture;
    const { deps, config } = service;
    const url = await startApi(workers, seconds);
    const there = { url, config };
    const email = newEmail();
    const person = await signUp(there, email);
    const { session } = person;
    // A fresh sign-in is a fresh proof, and an old sign-in is none.
    const changes = () => session.with(fromElsewhere()).post('/auth/second-factor/begin');
    expect((await changes()).status).toBe(200);
    await ageProofs(deps.database, person.userId, '16 minutes');
    expect((await changes()).body).toMatchObject({ error: { code: 'reauthentication_required' } });
    expect((await session.with(fromElsewhere()).post('/auth/prove', { password: PASSWORD })).status).toBe(200);
    expect((await changes()).status).toBe(200);

    const connected = await connectTools(session.with({ 'X-Project-Id': person.projectId }), 'tool-server', {
      url: toolServer.url,
    });
    expect(connected.status).toBe(200);

    const authenticator = await addSecondFactor(deps.database, person);
    const first = await postAuth(there, '/auth/sign-in/email', { email, password: PASSWORD });
    expect(await first.json()).toMatchObject({ secondFactorRequired: true });
    const Cookie = first.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ');
    const code = await authenticator.code();
    expect((await postAuth(there, '/auth/sign-in/second-factor', { code }, { Cookie })).status).toBe(200);
  });
});

describe.runIf(FULL_SIZE).each(CLOCKS)(
  "people's own model accounts and a clock that is an hour %s",
  (_name, seconds) => {
    let fixture: ModelFixture;
    let workers: WorkerProcesses;
    beforeAll(async () => {
      fixture = await startModelFixture();
      workers = workerProcesses(fixture.service);
      await workers.start({ ...fixture.env(), ...clock(seconds) }, WRONG);
    });
    afterAll(async () => {
      await workers?.close();
      await fixture?.close();
    });

    test('an account is connected, keeps the life of its token, and answers a run', async () => {
      const url = await startApi(workers, seconds, fixture.env());
      const person = await signUp({ url, config: fixture.service.config });
      const session: ApiClient = person.session.with({ 'X-Project-Id': person.projectId });
      const account = await connectByDevice(fixture, session);
      const stored = await storedRow(fixture, account.id);
      const lifeSeconds = (Number(stored['credential_expires_at']) - Date.now()) / 1_000;
      expect(Math.abs(lifeSeconds - Number(stored['credential_life_seconds']))).toBeLessThan(HOUR_SECONDS / 4);
      fixture.authorizationServer.control.tokenRequests.length = 0;
      const { data: models } = await session.get('/v1/models');
      const model = models.find((each: { connectionId: string | null }) => each.connectionId === account.id);
      const run = await runOnce(
        session,
        await createRoutine(session, {
          model: { provider: model.provider, connectionId: account.id, modelId: model.modelId },
        }),
      );
      expect(run).toMatchObject({ state: 'succeeded', reason: null });
      expect(fixture.authorizationServer.control.tokenRequests).toEqual([]);
    });
  },
);

/** Starts a receiver of webhooks on this machine. */
async function startReceiver() {
  const first = Promise.withResolvers<{ body: string; headers: Record<string, string> }>();
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      response.end();
      first.resolve({ body, headers: request.headers as Record<string, string> });
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, first: first.promise, close: () => server.close() };
}
