import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { routes } from '#api/routes.ts';
import { AT_ONCE, openDatabase, type Database } from '#lib/database/index.ts';
import { ApiClient } from '#test/support/client.ts';
import { FULL_SIZE } from '#test/support/properties.ts';
import { pathFor } from '#test/support/operations.ts';
import { signUp, type Person } from '#test/support/people.ts';
import { activeRoutine, createRoutine, runEnded, runOnce } from '#test/support/routines.ts';
import { startCluster, type Cluster } from './cluster.ts';
import { countModelCalls, RUN_MARK, type ModelCalls } from './model-calls.ts';
import { changeRoutines, changeRuns } from '#test/support/given.ts';

/** Time for which each part is away. The service promises to survive a minute, and a second is enough to see how. */
const OUTAGE_MS = FULL_SIZE ? 60_000 : 1_000;

let cluster: Cluster;
let person: Person;
let key: ApiClient;
let calls: ModelCalls;

beforeAll(async () => {
  cluster = await startCluster({ apis: 1, workers: 1 });
  calls = countModelCalls(cluster.gateway);
  person = await signUp({ url: cluster.apiUrls[0]!, config: { UI_ORIGIN: cluster.uiOrigin } });
  key = await person.key();
  // After an ended run the worker is certainly up.
  const { data: first } = await key.post(`/v1/routines/${await createRoutine(key)}/run`);
  await runEnded(key, first.id);
}, 150_000);
afterAll(async () => {
  calls.stop();
  await cluster.close();
});

test.runIf(FULL_SIZE)(
  'while Postgres is away, everything but liveness responds with 503 and Retry-After, and all works again without a restart',
  async () => {
    const marker = 'Answer while the database is away.';
    const release = cluster.gateway.control.hold({ marker });
    const routineId = await createRoutine(key, { instructions: `${RUN_MARK}\n${marker}` });
    const { data: underWay } = await key.post(`/v1/routines/${routineId}/run`);
    await modelCalled(underWay.id);
    const events = await fetch(`${key.baseUrl}/v1/runs/${underWay.id}/events`, {
      headers: key.headers,
    });

    await cluster.kill('postgres');
    // Its backends notice a moment later that their server is gone.
    await expect.poll(async () => (await key.get('/v1/models')).status).toBe(503);
    release();
    const away = Date.now();
    for (const spec of routes.map((route) => route.spec)) {
      const answer = await clientFor(spec.auth).send(
        spec.method,
        pathFor(spec),
        spec.method === 'GET' ? undefined : {},
      );
      const told = { status: answer.status, code: answer.body?.error?.code };
      const name = `${spec.method} ${spec.path}`;
      if (WITHOUT_POSTGRES.has(spec.path)) expect(told.status, name).toBeLessThan(300);
      else if (REFUSED_BEFORE.has(spec.path)) expect([400, 401, 403], name).toContain(told.status);
      else {
        expect(told, name).toEqual({ status: 503, code: 'service_unavailable' });
        expect(Number(answer.headers.get('retry-after')), name).toBeGreaterThan(0);
      }
    }
    const signIn = await new ApiClient(cluster.apiUrls[0]!, { Origin: cluster.uiOrigin }).post('/auth/sign-in/email', {
      email: person.email,
      password: 'correct-horse-battery',
    });
    expect(signIn.status).toBe(503);
    expect(signIn.headers.get('retry-after')).not.toBeNull();
    await sleep(Math.max(OUTAGE_MS - (Date.now() - away), 0));
    await cluster.start('postgres');

    await expect.poll(() => key.get('/v1/runs').then(({ status }) => status), POLL).toBe(200);
    expect((await person.session.get('/v1/projects')).status).toBe(200);
    // The model's response arrived when it could not be stored. The service kept it until it could, and paid once.
    const ended = await runEnded(key, underWay.id);
    expect(ended).toMatchObject({ state: 'succeeded', stepCount: 1 });
    // A follower of the run learns of its end on the same connection.
    expect(await events.text()).toContain('"state":"succeeded"');
    calls.read();
    expect(calls.byStep.get(underWay.id)?.get(0)).toBe(1);
    expect((await runOnce(key, routineId)).state).toBe('succeeded');
    expect(cluster.deaths).toEqual([]);
  },
);

test('while Temporal is away a run is accepted, and it starts by a tick when Temporal is back', async () => {
  const manual = await createRoutine(key);
  const scheduled = await activeRoutine(key, { schedule: '0 0 29 2 *' });
  await cluster.kill('temporal');
  // An API and a worker that have never reached Temporal must work too.
  for (const role of ['api-1', 'worker-1'] as const) {
    await cluster.kill(role);
    await cluster.start(role);
  }
  const away = Date.now();

  const started = await key.post(`/v1/routines/${manual}/run`);
  expect(started.status).toBe(202);
  expect(started.data.state).toBe('queued');
  const dropped = await key.post(`/v1/routines/${manual}/run`);
  const cancelled = await key.post(`/v1/runs/${dropped.data.id}/cancel`);
  expect(cancelled).toMatchObject({ status: 202, data: { state: 'cancelled' } });

  const ready = await key.get('/ready');
  expect([ready.status, ready.data]).toEqual([200, { postgres: 'ok', temporal: 'away' }]);

  await onDatabase((database) => changeRoutines(database, scheduled, { nextRunAt: AT_ONCE }));
  await tick();
  const claimed = () => key.get(`/v1/routines/${scheduled}/runs?trigger=schedule`);
  await expect.poll(async () => (await claimed()).data, POLL).toMatchObject([{ state: 'queued' }]);

  await sleep(Math.max(OUTAGE_MS - (Date.now() - away), 0));
  await cluster.start('temporal');
  const ticking = setInterval(() => void tick().catch(() => undefined), 1_000);
  try {
    const occurrence = (await claimed()).data[0].id;
    const waiting = [started.data.id, occurrence];
    // After a minute the leases on the lost starts have expired.
    await onDatabase((database) => changeRuns(database, waiting, { startLeasedUntil: AT_ONCE }));
    expect((await runEnded(key, started.data.id)).state).toBe('succeeded');
    expect((await runEnded(key, occurrence)).state).toBe('succeeded');
  } finally {
    clearInterval(ticking);
  }
  await expect.poll(() => key.get('/ready').then(({ data }) => data.temporal), POLL).toBe('ok');
  expect((await runOnce(key, manual)).state).toBe('succeeded');
  expect((await key.get(`/v1/runs/${dropped.data.id}`)).data.state).toBe('cancelled');
  expect(cluster.deaths).toEqual([]);
});

test.runIf(FULL_SIZE)(
  'while the gateway hangs, runs time out or are cancelled and the runs of other models go on',
  async () => {
    const [silent, other] = ['fixture/writer-large', 'fixture/free'].map((modelId) => ({
      model: { provider: 'gateway', connectionId: null, modelId },
    }));
    cluster.gateway.control.script({
      model: silent!.model.modelId,
      times: null,
      behaviour: { kind: 'hang' },
    });
    const hanging = await createRoutine(key, silent);
    await onDatabase((database) => changeRoutines(database, hanging, { timeoutSeconds: 3 }));
    const endless = await createRoutine(key, silent);
    const answered = await createRoutine(key, other);

    const { data: timed } = await key.post(`/v1/routines/${hanging}/run`);
    const { data: unwanted } = await key.post(`/v1/routines/${endless}/run`);
    await expect.poll(() => key.get(`/v1/runs/${unwanted.id}`).then(({ data }) => data.state), POLL).toBe('running');
    expect((await runOnce(key, answered)).state).toBe('succeeded');

    expect((await key.post(`/v1/runs/${unwanted.id}/cancel`)).status).toBe(202);
    expect((await runEnded(key, unwanted.id)).state).toBe('cancelled');
    expect(await runEnded(key, timed.id)).toMatchObject({
      state: 'failed',
      reason: 'timeout',
    });
    expect((await runOnce(key, answered)).state).toBe('succeeded');
    expect(cluster.deaths).toEqual([]);
  },
);

const POLL = { interval: 200 };

/**
 * Operations that respond without a database: liveness, the document, and the tick, which responds before it begins.
 */
const WITHOUT_POSTGRES = new Set(['/health', '/public/config', '/v1/openapi.json', '/internal/scheduler/tick']);

/** Operations that refuse this test's requests before they need a database. */
const REFUSED_BEFORE = new Set([
  '/public/business-leads',
  '/public/shared-results',
  '/v1/auth/ci-token',
  '/webhooks/stripe',
]);

function clientFor(auth: (typeof routes)[number]['spec']['auth']): ApiClient {
  switch (auth) {
    case 'none':
    case 'stripe-signature':
    case 'ui-origin':
      return new ApiClient(cluster.apiUrls[0]!);
    case 'scheduler-secret':
      return new ApiClient(cluster.apiUrls[0]!, { 'X-Scheduler-Secret': cluster.schedulerSecret });
    case 'key-or-session':
      return key;
    case 'session':
    case 'org-owner-session':
    case 'project-session':
    case 'owner-session':
    case 'returning-owner':
      return person.session;
  }
}

async function modelCalled(runId: string): Promise<void> {
  await expect
    .poll(() => {
      calls.read();
      return calls.byStep.has(runId);
    }, POLL)
    .toBe(true);
}

async function onDatabase(change: (database: Database) => Promise<void>): Promise<void> {
  const database = openDatabase({
    url: cluster.databaseUrl,
    poolSize: 1,
    applicationName: 'test',
  });
  await change(database);
  await database.end();
}

async function tick(): Promise<void> {
  const client = new ApiClient(cluster.apiUrls[0]!, {
    'X-Scheduler-Secret': cluster.schedulerSecret,
  });
  await client.post('/internal/scheduler/tick');
}
