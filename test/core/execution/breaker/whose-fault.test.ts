import { expect } from 'vitest';
import { Webhook } from 'standardwebhooks';
import type { ScriptInput } from '#dev/fakes/gateway/script.ts';
import { tellAccountEmpty } from '#core/execution/steps/unanswered-calls.ts';
import { claimDueRoutines, tick } from '#core/scheduling/index.ts';
import { AT_ONCE } from '#lib/database/index.ts';
import { total, parseSamples } from '#test/core/upkeep/observability/scrape.ts';
import { startReceiver } from '#test/lib/outbound/receiver.ts';
import type { ApiClient } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { callOf } from '#test/support/model-caller.ts';
import { activeRoutine, routineBody, runEnded, runOnce } from '#test/support/routines.ts';
import { EVERY, changeBreakers, changeRoutines, earlier, plantRun, removeBreakers } from '#test/support/given.ts';

/** A schedule once a year, so that occurrences are due only when a test says so. */
const YEARLY = '0 0 1 1 *';
const SMALL = 'fixture/writer-small';
const OTHER = 'fixture/writer-large';

const test = serviceTest({ worker: true, own: true })
  /** Makes routines due now, and returns the ended runs or skipped occurrences. */
  .extend('schedule', ({ service, key, bobsKey }) => {
    const newest = (client: ApiClient, id: string) =>
      client.get(`/v1/routines/${id}/runs?limit=1`).then(({ data }) => data[0]);
    return async (...ids: string[]) => {
      await changeRoutines(service.deps.database, ids, { nextRunAt: AT_ONCE });
      await tick(service.deps);
      return Promise.all(
        ids.map(async (id) => {
          const client = (await key.get(`/v1/routines/${id}`)).status === 200 ? key : bobsKey;
          return runEnded(client, (await newest(client, id)).id);
        }),
      );
    };
  })
  .extend(
    'breakers',
    ({ service }) =>
      () =>
        service.deps.database.rows`
          select account, failures, extract(epoch from pause_until - pause_from)::float8 as seconds from model_breakers
        `,
  );

test.afterEach(async ({ service }) => {
  service.gateway.control.reset();
  await removeBreakers(service.deps.database, EVERY);
});

const unavailable = {
  model: SMALL,
  times: null,
  behaviour: { kind: 'error', status: 502 },
} as const;

function careful(modelId = SMALL) {
  return {
    schedule: YEARLY,
    pauseAfterFailures: 1,
    model: { provider: 'gateway', connectionId: null, modelId },
  };
}

test('a gateway that is down pauses no routine: schedules on its model are held back, and go on by themselves', async ({
  service,
  key,
  bobsKey,
  schedule,
  breakers,
}) => {
  const { database } = service.deps;
  const [hers, alsoHers] = [await activeRoutine(key, careful()), await activeRoutine(key, careful())];
  const his = await activeRoutine(bobsKey, careful());
  const elsewhere = await activeRoutine(key, careful(OTHER));

  service.gateway.control.script(unavailable);
  for (const run of await schedule(hers, alsoHers, his)) {
    expect(run).toMatchObject({ state: 'failed', reason: 'model_error', failureClass: 'provider' });
  }
  expect(await breakers()).toEqual([{ account: `gateway/${SMALL}`, failures: 3, seconds: 30 }]);

  const [held, heldToo, well] = await schedule(hers, his, elsewhere);
  expect(held).toMatchObject({ state: 'skipped', reason: 'provider_unavailable' });
  expect(heldToo).toMatchObject({ state: 'skipped', reason: 'provider_unavailable' });
  expect(well).toMatchObject({ state: 'succeeded' });
  const [merged] = await schedule(hers);
  expect(merged).toMatchObject({ id: held.id, skipped: { count: 2, from: held.skipped.from } });

  // A person's run passes an open breaker, and its failure counts.
  expect(await runOnce(key, hers)).toMatchObject({ state: 'failed', reason: 'model_error' });
  expect(await breakers()).toMatchObject([{ failures: 4, seconds: 60 }]);

  service.gateway.control.reset();
  const anHour = earlier('1 hour');
  await changeBreakers(database, EVERY, { pauseFrom: anHour, pauseUntil: anHour });
  await changeRoutines(database, [hers, his], { nextRunAt: AT_ONCE });
  const ticks = await Promise.all([1, 2].map(() => claimDueRoutines(service.deps, 1)));
  expect(ticks.map(({ runs, skipped }) => runs + skipped)).toEqual([1, 1]);
  expect(ticks.reduce((sum, { runs }) => sum + runs, 0)).toBe(1);
  await service.deps.admission.admit();
  await expect.poll(breakers).toEqual([]);

  for (const run of await schedule(hers, alsoHers, his)) expect(run.state).toBe('succeeded');
  const routines = await database.rows`
    select distinct state, consecutive_failures as failures from routines
    where id = any(${[hers, alsoHers, his, elsewhere]})
  `;
  expect(routines).toEqual([{ state: 'active', failures: 0 }]);
});

test('failures that are not in a row open no breaker, and hold no schedule back', async ({
  service,
  key,
  schedule,
  breakers,
}) => {
  const id = await activeRoutine(key, careful());
  for (const failures of [1, 2]) {
    service.gateway.control.script({ ...unavailable, times: 5 });
    expect(await schedule(id)).toMatchObject([{ state: 'failed' }]);
    expect(await breakers()).toMatchObject([{ failures, seconds: null }]);
  }
  // The provider responded, although the run has no result.
  service.gateway.control.script({ model: SMALL, behaviour: { kind: 'text', text: '' } });
  expect(await runOnce(key, id)).toMatchObject({ state: 'failed', reason: 'model_empty' });
  expect(await breakers()).toEqual([]);
});

test('a routine that fails by its own fault is paused, and its webhook is told why', async ({
  service,
  key,
  schedule,
}) => {
  const receiver = await startReceiver((_, response) => response.end());
  const created = await key.post(
    '/v1/routines',
    routineBody({ ...careful(), name: 'Careful', webhookUrl: receiver.origin }),
  );
  const { id, webhookSecret } = created.data;
  expect(await runOnce(key, id)).toMatchObject({ state: 'succeeded' });
  expect((await key.post(`/v1/routines/${id}/activate`)).status).toBe(200);
  service.gateway.control.script({ behaviour: { kind: 'error', status: 400 } });
  const [run] = await schedule(id);
  expect(run).toMatchObject({ state: 'failed', reason: 'model_refused', failureClass: 'routine' });
  const { data: routine } = await key.get(`/v1/routines/${id}`);
  expect(routine).toMatchObject({ state: 'paused', nextRunAt: null });

  await expect.poll(() => receiver.received.length).toBe(3);
  const events = receiver.received.map(({ body, headers }) => ({
    id: headers['webhook-id'],
    event: new Webhook(webhookSecret).verify(body, headers as Record<string, string>) as {
      type: string;
      data: unknown;
    },
  }));
  const paused = events.find(({ event }) => event.type === 'routine.paused')!;
  expect(paused.event).toEqual({
    type: 'routine.paused',
    timestamp: run.finishedAt,
    data: {
      routineId: id,
      projectId: expect.stringMatching(/^prj_/),
      name: 'Careful',
      state: 'paused',
      reason: routine.stateReason,
      runId: run.id,
    },
  });
  expect(new Set(events.map((event) => event.id)).size).toBe(3);
  const { data: detail } = await key.get(`/v1/runs/${run.id}`);
  const types = detail.webhookDeliveries.map(({ eventType }: { eventType: string }) => eventType);
  expect(types.toSorted()).toEqual(['routine.paused', 'run.failed']);
});

test('a schedule that cannot be computed pauses its routine, and the webhook is told', async ({ service, key }) => {
  const receiver = await startReceiver((_, response) => response.end());
  const id = await activeRoutine(key, careful());
  await changeRoutines(service.deps.database, id, {
    schedule: 'nonsense',
    webhookUrl: receiver.origin,
    nextRunAt: AT_ONCE,
  });
  await tick(service.deps);
  const delivery = await service.deps.database.row<{
    body: string;
  }>`select body from webhook_deliveries where routine_id = ${id} and event_type = 'routine.paused'`;
  expect(JSON.parse(delivery!.body).data).toMatchObject({
    routineId: id,
    reason: expect.stringContaining('no computable next time'),
    runId: expect.stringMatching(/^run_/),
  });
});

test('a run that the platform has lost past its deadline counts against no routine', async ({ service, key }) => {
  const id = await activeRoutine(key, careful());
  const anHourAgo = new Date(Date.now() - 3_600_000);
  const runId = await plantRun(service.deps.database, id, {
    trigger: 'schedule',
    state: 'running',
    admittedAt: anHourAgo,
    startedAt: anHourAgo,
    workflowStartedAt: new Date(),
  });
  await tick(service.deps);
  expect((await key.get(`/v1/runs/${runId}`)).data).toMatchObject({
    state: 'failed',
    reason: 'workflow_lost',
    failureClass: 'platform',
    errorMessage: 'The engine lost the run: nothing ended it when its time was over.',
  });
  expect((await key.get(`/v1/routines/${id}`)).data.state).toBe('active');
});

test("a gateway that refuses the service's key is the operator's to mend and pauses no routine", async ({
  service,
  key,
  schedule,
  breakers,
}) => {
  const id = await activeRoutine(key, careful());
  const ofPlatform = async () =>
    total(parseSamples(await service.registry.metrics()), 'ras_runs_ended_total', {
      class: 'platform',
      reason: 'model_key_refused',
    });
  const before = await ofPlatform();
  service.gateway.control.script({ behaviour: { kind: 'error', status: 401 } });
  expect(await schedule(id)).toMatchObject([
    { state: 'failed', reason: 'model_key_refused', failureClass: 'platform' },
  ]);
  expect((await key.get(`/v1/routines/${id}`)).data.state).toBe('active');
  expect((await ofPlatform()) - before).toBe(1);
  expect(await breakers()).toEqual([]);
});

const EMPTY = { type: 'insufficient_quota', message: 'You exceeded your current quota.', code: 'insufficient_quota' };

test.for<[string, ScriptInput]>([
  ['by status', { behaviour: { kind: 'error', status: 402, message: 'No.' } }],
  ['as a rate limit', { behaviour: { kind: 'error', status: 429, json: { error: EMPTY } } }],
  ['as a bad request', { behaviour: { kind: 'error', status: 400, message: 'Your credit balance is too low.' } }],
  ['in the middle of a stream', { form: { error: { message: 'Insufficient credits. Add more.' } } }],
])(
  'an account without money, told %s, is asked once, and pauses no routine',
  async ([, script], { service, key, schedule }) => {
    const id = await activeRoutine(key, careful());
    service.gateway.control.reset();
    service.gateway.control.script({ times: null, ...script });
    const [run] = await schedule(id);
    expect(run).toMatchObject({ state: 'failed', reason: 'model_account_empty', failureClass: 'provider' });
    expect(run.errorMessage).toMatch(/^The account at the model provider has no money left.* It said: /);
    expect((await key.get(`/v1/routines/${id}`)).data.state).toBe('active');
    expect(service.gateway.control.requests().filter(({ path }) => path.includes('chat'))).toHaveLength(1);
    // An earlier run has reported the fault to the operator, so nothing more is logged.
    const errors: unknown[] = [];
    const log = { error: (fields: unknown) => errors.push(fields), warn: () => undefined } as never;
    const { database } = service.deps;
    await tellAccountEmpty({ database, log }, callOf(SMALL));
    expect(errors).toEqual([]);
    const other = callOf(SMALL, { served: { source: `other-${id}`, modelId: SMALL } });
    await Promise.all([other, other, other].map((call) => tellAccountEmpty({ database, log }, call)));
    expect(errors).toEqual([{ source: `other-${id}`, modelId: SMALL }]);
  },
);

test('a run with no time left for the next attempt fails for what its provider did, not for its time', async ({
  service,
  key,
}) => {
  const id = await activeRoutine(key, { ...careful(), limits: { timeoutSeconds: 30 } });
  service.gateway.control.script({ behaviour: { kind: 'error', status: 503, retryAfter: '60' } });
  const run = await runOnce(key, id);
  expect(run).toMatchObject({ state: 'failed', reason: 'model_error', steps: [{ attempt: 1 }] });
});
