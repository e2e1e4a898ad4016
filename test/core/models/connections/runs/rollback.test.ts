import { afterAll, beforeAll, expect, test } from 'vitest';
import { pauseOfDisabledProviders } from '#core/scheduling/reconcile.ts';
import { tick } from '#core/scheduling/index.ts';
import { AT_ONCE } from '#lib/database/index.ts';
import type { Runtime } from '#runtime/start.ts';
import { ApiClient } from '#test/support/client.ts';
import { activeRoutine, createRoutine } from '#test/support/routines.ts';
import { changeRoutines } from '#test/support/given.ts';
import { modelOn, startWorld, type World } from './world.ts';

let world: World;
const PAST = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z', acceptForecast: true };
let runtime: Runtime;

beforeAll(async () => {
  world = await startWorld({ worker: true });
  runtime = await world.rig.start(world.runtimeEnv);
});
afterAll(() => world?.close());

/** Returns the same dependencies with provider-a switched off. */
function switchedOff() {
  const { deps } = world.service;
  const providerEnabled = (provider: string) => provider !== 'provider-a' && deps.providerEnabled(provider);
  return { ...deps, providerEnabled };
}

test('a provider that is switched off pauses its routines once, keeps everything, and takes nothing new', async () => {
  const { key, service } = world;
  const connectionId = await world.account('provider-a');
  const onIt = await activeRoutine(key, { model: modelOn('provider-a', connectionId) });
  const other = await activeRoutine(key, {
    model: modelOn('provider-b', await world.account('provider-b')),
  });
  const gateway = await activeRoutine(key);
  await changeRoutines(service.deps.database, onIt, { nextRunAt: AT_ONCE });

  await tick(switchedOff());
  const paused = await key.get(`/v1/routines/${onIt}`);
  expect(paused.data).toMatchObject({
    state: 'paused',
    stateReason: 'paused because its model provider is disabled',
    nextRunAt: null,
  });
  const { data: occurrences } = await key.get(`/v1/routines/${onIt}/runs?trigger=schedule`);
  expect(occurrences).toMatchObject([{ state: 'skipped', reason: 'provider_disabled' }]);
  for (const id of [other, gateway]) {
    expect((await key.get(`/v1/routines/${id}`)).data.state).toBe('active');
  }
  expect(await pauseOfDisabledProviders(switchedOff())).toBe(0);
  const kept = await service.deps.database.row<{
    state: string;
    credential: string | null;
  }>`select state, credential from model_connections where id = ${connectionId}`;
  expect(kept).toMatchObject({ state: 'ready', credential: expect.any(String) });

  // When the provider is switched on again, no run starts by itself; a person has to activate the routine.
  await tick(service.deps);
  expect((await key.get(`/v1/routines/${onIt}`)).data.state).toBe('paused');
  expect((await key.post(`/v1/routines/${onIt}/activate`)).data.state).toBe('active');
});

test('on a replica without the provider its models are gone, and routines on it are refused', async () => {
  const { service, key } = world;
  const connectionId = await world.account('provider-a');
  const model = modelOn('provider-a', connectionId);
  const replica = await service.replica({ MODEL_PROVIDER_A_ENABLED: 'false' });
  try {
    const there = new ApiClient(replica.url, key.headers);
    expect(JSON.stringify((await there.get('/v1/models')).data)).not.toContain(connectionId);
    expect(JSON.stringify((await key.get('/v1/models')).data)).toContain(connectionId);
    const refused = await there.post('/v1/routines', {
      name: 'x',
      instructions: 'Write one line.',
      schedule: '@daily',
      model,
    });
    expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_model']);
    const routineId = await createRoutine(key, { model });
    for (const path of ['run', 'backfill'].map((action) => `/v1/routines/${routineId}/${action}`)) {
      const started = await there.post(path, path.endsWith('run') ? {} : PAST);
      expect([started.status, started.body.error.code]).toEqual([403, 'provider_disabled']);
    }
    expect((await key.get(`/v1/routines/${routineId}/runs`)).data).toEqual([]);
  } finally {
    await replica.close();
  }
});

test('a runtime on which the provider is off ends the run with the reason, and asks no provider', async () => {
  const { key, rig } = world;
  await runtime.stop();
  runtime = await rig.start({ ...world.runtimeEnv, MODEL_PROVIDER_A_ENABLED: 'false' });
  rig.providers.control.reset();
  const model = modelOn('provider-a', await world.account('provider-a'));
  const routineId = await createRoutine(key, { model });
  const { data } = await key.post(`/v1/routines/${routineId}/run`);
  await expect
    .poll(async () => (await key.get(`/v1/runs/${data.id}`)).data)
    .toMatchObject({ state: 'failed', reason: 'blocked_provider_disabled' });
  expect(rig.providers.control.requests()).toEqual([]);
});
