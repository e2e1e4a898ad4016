import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '#lib/database/index.ts';
import { SLOTS } from '#test/runtime/rig.ts';
import { FULL_SIZE } from '#test/support/properties.ts';
import { Canaries } from '#test/faults/canary/canaries.ts';
import type { NodeProcess } from '#test/support/node-process.ts';
import { createRoutine, runEnded, runOnce } from '#test/support/routines.ts';
import { workerProcesses, type WorkerProcesses } from '#test/support/worker-process.ts';
import { historyOf } from './history.ts';
import { modelOn, startWorld, type World } from './world.ts';

/** On each change, only one protocol is tested. */
const TRIED = FULL_SIZE ? SLOTS : SLOTS.slice(0, 1);

const canaries = new Canaries();
const TOKEN = canaries.make('credential of the account', 'sk-');
const REFRESH = canaries.make('refresh token of the account', 'rt-');
const WRONG = canaries.make('credential that is over', 'sk-');

let world: World;
let runtime: NodeProcess;
let workers: WorkerProcesses;
let worker: NodeProcess;

beforeAll(async () => {
  world = await startWorld();
  world.rig.providers.control.credentials.add(TOKEN);
  workers = workerProcesses(world.service);
  [runtime, worker] = await Promise.all([
    world.rig.spawn({ ...world.runtimeEnv, LOG_LEVEL: 'trace' }),
    workers.start({ ...world.env, MODEL_PROVIDER_FAKE: 'true', LOG_LEVEL: 'trace' }),
  ]);
});
afterAll(async () => {
  await workers?.close();
  await world?.close();
});

/** Returns every row of every table about runs and accounts, as text. */
async function tables(): Promise<string> {
  const { database } = world.service.deps;
  const names = ['runs', 'steps', 'model_calls', 'model_connections', 'model_breakers'];
  const found = await Promise.all(
    names.map((name) => database.rows`${sql([`select to_jsonb(t) as row from ${name} t`])}`),
  );
  return JSON.stringify(found);
}

test('a credential of an account is in no history, log, response, row or file, with any outcome of the call', async () => {
  const { key, rig } = world;
  const said: string[] = [];
  const runIds: string[] = [];
  const keep = (run: { readonly id: string }) => {
    said.push(JSON.stringify(run));
    runIds.push(run.id);
  };
  for (const slot of TRIED) {
    const good = await world.account(slot, { credential: TOKEN, refreshToken: REFRESH });
    const routineId = await createRoutine(key, { model: modelOn(slot, good) });
    keep(await runOnce(key, routineId));
    // This provider repeats everything that it received.
    rig.providers.control.script({
      kind: 'error',
      status: 400,
      body: { error: { message: `bad key ${TOKEN}`, type: TOKEN } },
    });
    keep(await runOnce(key, routineId));
    rig.providers.control.script({ kind: 'text', text: `You sent me ${TOKEN}, thank you.` });
    keep(await runOnce(key, routineId));
    rig.providers.control.script({ kind: 'stream-error', error: { message: TOKEN, type: TOKEN } });
    keep(await runOnce(key, routineId));
    rig.providers.control.reset();
    rig.providers.control.script({ kind: 'hang' });
    const { data } = await key.post(`/v1/routines/${routineId}/run`);
    await expect.poll(() => world.asked()).toBe(1);
    await key.post(`/v1/runs/${data.id}/cancel`);
    keep(await runEnded(key, data.id));
    const over = await world.account(slot, { credential: WRONG });
    keep(await runOnce(key, await createRoutine(key, { model: modelOn(slot, over) })));
  }
  const states = said.map((text) => (JSON.parse(text) as { state: string }).state);
  expect(states.filter((state) => state === 'succeeded').length).toBeGreaterThanOrEqual(TRIED.length);
  expect(states.filter((state) => state === 'cancelled')).toHaveLength(TRIED.length);

  said.push((await key.get('/v1/models')).headers.get('link') ?? '', await tables());
  const histories = await Promise.all(runIds.map((runId) => historyOf(world.service, runId)));
  const state = path.join(rig.folder, 'state');
  const files = readdirSync(state).map((file) => readFileSync(path.join(state, file)).toString('latin1'));
  const places = {
    responses: said.join('\n'),
    histories: histories.join('\n'),
    worker: worker.output(),
    runtime: runtime.output(),
    journal: files.join('\n'),
  };
  for (const [place, text] of Object.entries(places)) {
    expect(text.length, place).toBeGreaterThan(100);
    expect(canaries.foundIn(text), place).toEqual([]);
  }
  // The providers received the credential, so the search could have found it.
  const sent = JSON.stringify(rig.providers.control.requests().map(({ headers }) => headers));
  expect(canaries.foundIn(sent)).toContain('credential of the account');
  expect(canaries.foundIn(sent)).not.toContain('refresh token of the account');
}, 180_000);
