import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Runtime } from '#runtime/start.ts';
import { SLOTS } from '#test/runtime/rig.ts';
import { FULL_SIZE } from '#test/support/properties.ts';
import { proves } from '#test/support/proves.ts';
import { activeRoutine, createRoutine, routineBody, runEnded, runOnce } from '#test/support/routines.ts';
import { confirm, discovered, toolSteps } from '#test/core/integrations/tools/support.ts';
import { startEverythingServer, type EverythingServer } from '#test/core/integrations/tools/everything-server.ts';
import { MODEL, modelOn, startWorld, type World } from './world.ts';
import { changeAccounts } from '#test/support/given.ts';

let world: World;
let runtime: Runtime;
let everything: EverythingServer;

beforeAll(async () => {
  world = await startWorld({ worker: true });
  [runtime, everything] = await Promise.all([world.rig.start(world.runtimeEnv), startEverythingServer()]);
});
afterAll(async () => {
  await everything?.stop();
  await world?.close();
});
beforeEach(() => world.rig.providers.control.reset());

describe.each(SLOTS)('a routine on an account of %s', (slot) => {
  test.runIf(FULL_SIZE || slot === SLOTS[0])(
    'runs by hand and by schedule, with tools, and its usage is on record',
    async () => {
      const { key, service } = world;
      const connectionId = await world.account(slot);
      const model = modelOn(slot, connectionId);
      const found = await discovered(key, { url: everything.url }, { model });
      await confirm(key, found, ['echo']);
      world.rig.providers.control.script({
        kind: 'tool-calls',
        calls: [{ name: 'echo', arguments: '{"message":"from an account"}' }],
      });
      const run = await runOnce(key, found.routineId);
      expect(run).toMatchObject({ state: 'succeeded', stepCount: 2, model });
      expect(toolSteps(run)[0].tool).toMatchObject({ toolName: 'echo', isError: false });
      expect(run.usage).toMatchObject({ costUsd: null, estimated: false });
      expect(run.usage.inputTokens).toBeGreaterThan(0);
      expect(await world.calls(run.id)).toEqual([
        { requestId: `${run.id}/0/0`, state: 'succeeded', failure: null },
        { requestId: `${run.id}/2/0`, state: 'succeeded', failure: null },
      ]);
      const scheduled = await world.occurrence(found.routineId);
      const ended = await runEnded(key, scheduled.id);
      expect(ended).toMatchObject({ state: 'succeeded', trigger: 'schedule', model });
      expect(service.gateway.control.requests().filter(({ path }) => path.includes('chat'))).toEqual([]);
    },
  );

  test.runIf(FULL_SIZE || slot === SLOTS[0])(
    'states its outcome, after a call that was refused and a reminder',
    async () => {
      const { key, rig } = world;
      const routineId = await createRoutine(key, {
        instructions: 'Look.\nFINISH late All is well.',
        model: modelOn(slot, await world.account(slot)),
        outcome: 'required',
      });
      const calls = [{ name: 'finish', arguments: '{"outcome":"fine"}' }];
      rig.providers.control.script({ kind: 'tool-calls', calls });
      const run = await runOnce(key, routineId);
      expect(run).toMatchObject({
        state: 'succeeded',
        outcome: 'done',
        outcomeSummary: 'All is well.',
        result: expect.stringContaining('Report of'),
        stepCount: 3,
      });
      expect(toolSteps(run)).toMatchObject([
        { state: 'failed', errorMessage: expect.stringContaining('outcome must be one of') },
      ]);
    },
  );
});

test(
  'two accounts with the same model are two options, and each runs on its own credential',
  proves('GET /v1/models', 'routine.model'),
  async () => {
    const { key, rig } = world;
    rig.providers.control.credentials.add('second-key');
    const one = await world.account('provider-c');
    const two = await world.account('provider-c', { credential: 'second-key' });
    const { data } = await key.get('/v1/models');
    const options = data.filter(({ connectionId }: { connectionId: string | null }) =>
      [one, two].includes(connectionId ?? ''),
    );
    expect(options).toHaveLength(2);
    expect(options[0]).toMatchObject({
      provider: 'provider-c',
      connectionId: one,
      modelId: MODEL,
      name: MODEL,
      source: null,
      contextTokens: 64_000,
      prices: null,
      structuredOutputs: false,
    });
    for (const [connectionId, used] of [
      [one, 'fixture-provider-key'],
      [two, 'second-key'],
    ] as const) {
      rig.providers.control.reset();
      const routineId = await createRoutine(key, { model: modelOn('provider-c', connectionId) });
      await runOnce(key, routineId);
      const [request] = rig.providers.control.requests();
      expect(request?.headers['x-api-key']).toBe(used);
    }
  },
);

test(
  'an account that is no longer ready has no models, and takes neither a routine nor a run',
  proves('GET /v1/models'),
  async () => {
    const { key, service } = world;
    const connectionId = await world.account('provider-b');
    const model = modelOn('provider-b', connectionId);
    const routineId = await createRoutine(key, { model });
    await changeAccounts(service.deps.database, connectionId, { state: 'needs_reauthorization' });
    expect(JSON.stringify((await key.get('/v1/models')).data)).not.toContain(connectionId);
    const refused = await key.post('/v1/routines', routineBody({ model }));
    expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_model']);
    const run = await runOnce(key, routineId);
    expect(run).toMatchObject({ state: 'failed', reason: 'blocked_connection', stepCount: 0 });
    expect(world.asked()).toBe(0);
  },
);

const ENDINGS = [
  ['provider-a', 'insufficient_system_resource'],
  ['provider-a', 'half_done'],
  ['provider-c', 'pause_turn'],
  ['provider-c', 'something_new'],
] as const;

test.for(FULL_SIZE ? ENDINGS : ENDINGS.slice(0, 1))(
  'on %s a response that ends with "%s" is asked for again, and its usage counts',
  async ([slot, word]) => {
    const { key, rig } = world;
    const model = modelOn(slot, await world.account(slot));
    const routineId = await createRoutine(key, { model });
    rig.providers.control.script({ kind: 'text', text: 'Half of a report.', finishReason: word });
    const run = await runOnce(key, routineId);
    expect(run).toMatchObject({ state: 'succeeded', steps: [{ attempt: 2 }] });
    expect(run.result).not.toContain('Half of a report.');
    expect(run.usage.inputTokens).toBeGreaterThan(run.steps[0].usage.outputTokens);
    expect(await world.calls(run.id)).toMatchObject([
      { state: 'failed', failure: 'model_error' },
      { state: 'succeeded' },
    ]);
  },
);

test('on an account thinking is taken out of the text too', async () => {
  const { key, rig } = world;
  const model = modelOn('provider-a', await world.account('provider-a'));
  const routineId = await createRoutine(key, { model });
  rig.providers.control.script({ kind: 'text', text: '<think>Hm.</think>All is well.' });
  const run = await runOnce(key, routineId);
  expect(run).toMatchObject({ state: 'succeeded', result: 'All is well.', steps: [{ thinking: 'Hm.' }] });
});

test('usage that the provider does not state is estimated, and said to be', async () => {
  const { key, rig } = world;
  const connectionId = await world.account('provider-a');
  const routineId = await createRoutine(key, { model: modelOn('provider-a', connectionId) });
  rig.providers.control.script({ kind: 'lying-usage', tokens: 0 });
  const run = await runOnce(key, routineId);
  expect(run).toMatchObject({ state: 'succeeded', usage: { estimated: true } });
  expect(run.usage.outputTokens).toBeGreaterThan(0);
});

test('a budget in dollars is refused on save, as an account has no prices', async () => {
  const connectionId = await world.account('provider-a');
  const refused = await world.key.post('/v1/routines', {
    name: 'Costly',
    instructions: 'Write one line.',
    schedule: '@daily',
    model: modelOn('provider-a', connectionId),
    budget: { maxCostUsdPerMonth: '10.00' },
  });
  expect(refused.status).toBe(400);
  expect(refused.body.error.message).toContain('budget.maxCostUsdPerMonth');
});

test('tokens of an account count towards a budget of tokens', async () => {
  const { key } = world;
  const connectionId = await world.account('provider-a');
  const routineId = await createRoutine(key, {
    model: modelOn('provider-a', connectionId),
  });
  const first = await runOnce(key, routineId);
  expect(first.state).toBe('succeeded');
  const maxTokensPerDay = first.usage.totalTokens + 10;
  await key.patch(`/v1/routines/${routineId}`, { budget: { maxTokensPerDay } });
  const second = await runOnce(key, routineId);
  expect(second).toMatchObject({ state: 'failed', reason: 'blocked_budget' });
});

test('an active routine on an account is not taken for one of the gateway when it is read', async () => {
  const connectionId = await world.account('provider-b');
  const model = modelOn('provider-b', connectionId);
  const id = await activeRoutine(world.key, { model });
  expect((await world.key.get(`/v1/routines/${id}`)).data).toMatchObject({
    state: 'active',
    model,
  });
  expect(runtime.port).toBe(Number(world.runtimeEnv['MODEL_RUNTIME_PORT']));
});
