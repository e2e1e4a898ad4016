import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AT_ONCE, sql } from '#lib/database/index.ts';
import type { NodeProcess } from '#test/support/node-process.ts';
import { signUp } from '#test/support/people.ts';
import { FULL_SIZE } from '#test/support/properties.ts';
import { createRoutine, runEnded, runOnce } from '#test/support/routines.ts';
import { startWorkers } from '#test/support/service.ts';
import { workerProcesses, type WorkerProcesses } from '#test/support/worker-process.ts';
import { modelOn, startWorld, type World } from './world.ts';
import {
  EVERY,
  changeAccounts,
  changeBreakers,
  changeRuns,
  changeRuntimeLease,
  giveRole,
  increasedBy,
} from '#test/support/given.ts';

let world: World;
let runtime: NodeProcess;
let workers: WorkerProcesses;

beforeAll(async () => {
  world = await startWorld();
  workers = workerProcesses(world.service);
  runtime = await world.rig.spawn(world.runtimeEnv);
});
afterAll(async () => {
  await workers?.close();
  await world?.close();
});
beforeEach(() => world.rig.providers.control.reset());

function startWorker() {
  return workers.start({ ...world.env, MODEL_PROVIDER_FAKE: 'true' });
}

/** Starts a run on an account of its own, and returns the run once its call is under way. */
async function runWithCallOut(credential?: string) {
  const { key } = world;
  const connectionId = await world.account('provider-c', credential === undefined ? {} : { credential });
  const routineId = await createRoutine(key, { model: modelOn('provider-c', connectionId) });
  const { data } = await key.post(`/v1/routines/${routineId}/run`);
  await expect.poll(() => world.asked()).toBe(1);
  const connection = { id: connectionId, projectId: world.ada.projectId };
  return { runId: String(data.id), routineId, connection };
}

/** Makes the run the proof of its routine. */
function provenBy(runId: string) {
  return changeRuns(world.service.deps.database, runId, { state: 'succeeded' });
}

const WITHOUT_MONEY: readonly (readonly [number, object])[] = [
  [402, { error: { message: 'Payment required.' } }],
  [429, { error: { type: 'insufficient_quota', message: 'Check your plan and billing details.' } }],
  [400, { error: { message: 'Your credit balance is too low.' } }],
];

describe('in the middle of a call', () => {
  test.runIf(FULL_SIZE)(
    'a worker that is killed leaves the call to the next one, and the provider is asked once',
    async () => {
      const first = await startWorker();
      world.rig.providers.control.script({ kind: 'slow', pauseMs: 1_500 });
      const { runId } = await runWithCallOut();
      await first.end('SIGKILL');
      await startWorker();
      const ended = await runEnded(world.key, runId);
      expect(ended).toMatchObject({ state: 'succeeded', steps: [{ attempt: 2 }] });
      expect(world.asked()).toBe(1);
      expect(await world.calls(runId)).toEqual([{ requestId: `${runId}/0/0`, state: 'succeeded', failure: null }]);
      await workers.stop();
    },
  );

  test.runIf(FULL_SIZE)(
    'a runtime that is killed makes its outcome unknown, and the run asks again under the next id',
    async () => {
      await startWorker();
      world.rig.providers.control.script({ kind: 'hang' });
      const { runId } = await runWithCallOut();
      await runtime.end('SIGKILL');
      runtime = await world.rig.spawn(world.runtimeEnv);
      const ended = await runEnded(world.key, runId);
      expect(ended).toMatchObject({ state: 'succeeded' });
      expect(world.asked()).toBe(2);
      expect(await world.calls(runId)).toEqual([
        { requestId: `${runId}/0/0`, state: 'unknown_outcome', failure: 'unknown_outcome' },
        { requestId: `${runId}/0/1`, state: 'succeeded', failure: null },
      ]);
      await workers.stop();
    },
  );
});

test.runIf(FULL_SIZE)(
  'a runtime that stands still for longer than its lease stores nothing of a call, and the run asks again under the next id',
  async () => {
    await runtime.end();
    const frozen = await world.rig.spawn(world.runtimeEnv, {
      entry: 'test/runtime/fixtures/short-lease.ts',
    });
    await startWorker();
    world.rig.providers.control.script({ kind: 'slow', pauseMs: 100 });
    const { runId } = await runWithCallOut();
    process.kill(frozen.pid, 'SIGSTOP');
    await sleep(4_000);
    process.kill(frozen.pid, 'SIGCONT');
    expect(await runEnded(world.key, runId)).toMatchObject({ state: 'succeeded' });
    expect(world.asked()).toBe(2);
    expect(await world.calls(runId)).toEqual([
      { requestId: `${runId}/0/0`, state: 'unknown_outcome', failure: 'unknown_outcome' },
      { requestId: `${runId}/0/1`, state: 'succeeded', failure: null },
    ]);
    await workers.stop();
    await frozen.end('SIGKILL');
    runtime = await world.rig.spawn(world.runtimeEnv);
  },
);

describe('with a worker', () => {
  beforeAll(async () => {
    const running = await startWorkers(world.service.config, world.service.deps);
    return () => running.stop();
  });

  test('a run that is cancelled ends its call, and the provider hears of it', async () => {
    world.rig.providers.control.script({ kind: 'hang' });
    const { runId } = await runWithCallOut();
    await world.key.post(`/v1/runs/${runId}/cancel`);
    expect(await runEnded(world.key, runId)).toMatchObject({ state: 'cancelled' });
    await expect.poll(() => world.rig.providers.control.requests()[0]?.aborted).toBe(true);
    expect(await world.calls(runId)).toMatchObject([{ state: 'unknown_outcome', failure: 'run_ended' }]);
  });

  test('an account that is revoked ends its call, and the run with it', async () => {
    world.rig.providers.control.script({ kind: 'hang' });
    const { runId, connection } = await runWithCallOut();
    const owner = world.ada.session.with({ 'X-Project-Id': world.ada.projectId });
    const revoked = await owner.post(`/v1/model-connections/${connection.id}/revoke`);
    expect(revoked.status).toBe(200);
    const ended = await runEnded(world.key, runId);
    expect(ended).toMatchObject({ state: 'failed', reason: 'blocked_connection' });
    expect(world.rig.providers.control.requests()[0]?.aborted).toBe(true);
    expect(await world.calls(runId)).toMatchObject([{ failure: 'revoked' }]);
    const { data } = await world.key.get('/v1/models');
    expect(JSON.stringify(data)).not.toContain(connection.id);
  });

  test('an owner who is removed while a run waits ends it, and the one that is under way', async () => {
    const { ada, key, rig, service } = world;
    const colleague = await signUp(service);
    await giveRole(service.deps.database, ada.organizationId, colleague.userId, 'member');
    const connectionId = await world.account('provider-c', { owner: colleague });
    const model = modelOn('provider-c', connectionId);
    const routineIds = [await createRoutine(key, { model }), await createRoutine(key, { model })];
    rig.providers.control.script({ kind: 'hang' });
    const first = (await key.post(`/v1/routines/${routineIds[0]}/run`)).data.id;
    await expect.poll(() => world.asked()).toBe(1);
    const second = (await key.post(`/v1/routines/${routineIds[1]}/run`)).data.id;
    expect((await key.get(`/v1/runs/${second}`)).data).toMatchObject({ waitingFor: 'account' });
    const member = `/v1/organizations/${ada.organizationId}/members/${colleague.userId}`;
    expect((await ada.session.delete(member)).status).toBe(200);
    for (const id of [first, second]) {
      expect(await runEnded(key, id)).toMatchObject({
        state: 'failed',
        reason: 'blocked_connection',
      });
    }
    expect(world.asked()).toBe(1);
    expect(rig.providers.control.requests()[0]?.aborted).toBe(true);
    expect((await world.calls(first))[0]).toMatchObject({ failure: 'revoked' });
    expect(await world.calls(second)).toEqual([]);
  });

  test('a result under a lease that another worker has taken meanwhile is not recorded', async () => {
    const { database } = world.service.deps;
    world.rig.providers.control.script({ kind: 'slow', pauseMs: 300 });
    const { runId } = await runWithCallOut();
    // The lease changes as if another worker had taken it, and the runtime does not learn of the change.
    await changeRuntimeLease(database, EVERY, { epoch: increasedBy(1) });
    const ended = await runEnded(world.key, runId);
    expect(ended).toMatchObject({ state: 'succeeded' });
    expect(ended.steps[0].attempt).toBeGreaterThan(1);
    const epoch = await database.row<{ call: number; lease: number }>`
      select k.epoch as call, l.epoch as lease from model_calls k, runtime_lease l
      where k.run_id = ${runId} and k.state = 'succeeded'
    `;
    expect(epoch?.call).toBe(epoch?.lease);
  });

  test('a credential that the provider refuses ends the run, and the account has to be connected again', async () => {
    const { runId, connection } = await runWithCallOut('a-key-that-is-over');
    const ended = await runEnded(world.key, runId);
    expect(ended).toMatchObject({ state: 'failed', reason: 'model_credential_refused' });
    expect(JSON.stringify(ended)).not.toContain('a-key-that-is-over');
    const account = await world.service.deps.database.row<{
      state: string;
    }>`select state from model_connections where id = ${connection.id}`;
    expect(account?.state).toBe('needs_reauthorization');
    const again = await runOnce(world.key, ended.routineId);
    expect(again).toMatchObject({ state: 'failed', reason: 'blocked_connection', stepCount: 0 });
  });

  test.for(FULL_SIZE ? WITHOUT_MONEY : WITHOUT_MONEY.slice(0, 1))(
    'an account without money (%i) fails its runs, and its owner is told once',
    async ([status, body]) => {
      const { key, service, ada } = world;
      const connectionId = await world.account('provider-a');
      const routineId = await createRoutine(key, { model: modelOn('provider-a', connectionId) });
      const mails = () => service.deps.database.rows`
      select user_id from outbox where kind = 'model_connection' order by created_at
    `;
      const before = await mails();
      for (let runs = 1; runs <= 2; runs += 1) {
        world.rig.providers.control.script({ kind: 'error', status, body });
        const run = await runOnce(key, routineId);
        expect(run).toMatchObject({ state: 'failed', reason: 'model_account_empty', failureClass: 'provider' });
        expect(world.asked()).toBe(runs);
      }
      expect(await mails()).toEqual([...before, { user_id: ada.userId }]);
    },
  );

  test('a usage limit holds the account until its reset: no attempt, and occurrences are passed over', async () => {
    const { key, service } = world;
    const connectionId = await world.account('provider-a');
    const routineId = await createRoutine(key, { model: modelOn('provider-a', connectionId) });
    const resetAt = Math.floor(Date.now() / 1_000) + 7_200;
    world.rig.providers.control.script({
      kind: 'error',
      status: 429,
      body: { error: { type: 'usage_limit_reached', resets_at: resetAt } },
    });
    const limited = await runOnce(key, routineId);
    expect(limited).toMatchObject({ state: 'failed', reason: 'model_usage_limit', stepCount: 0 });
    expect(world.asked()).toBe(1);
    const again = await runOnce(key, routineId);
    expect(again).toMatchObject({ state: 'failed', reason: 'blocked_usage_limit' });
    expect(again.errorMessage).toContain(new Date(resetAt * 1_000).toISOString());
    expect(world.asked()).toBe(1);
    const breaker = await service.deps.database.row<{
      until: Date;
    }>`select pause_until as until from model_breakers where account = ${connectionId}`;
    expect(breaker?.until).toEqual(new Date(resetAt * 1_000));
    await provenBy(again.id);
    expect(await world.occurrence(routineId)).toMatchObject({
      state: 'skipped',
      reason: 'provider_unavailable',
      errorMessage: `The model account is tried again from ${new Date(resetAt * 1_000).toISOString()}.`,
    });

    // The account may be used again: the next occurrence runs as a probe, and the schedule continues.
    await changeAccounts(service.deps.database, connectionId, { notBefore: AT_ONCE });
    const ofAccount = { account: connectionId };
    await changeBreakers(service.deps.database, ofAccount, { pauseUntil: AT_ONCE });
    const probe = await world.occurrence(routineId);
    expect(await runEnded(key, probe.id)).toMatchObject({ state: 'succeeded' });
    const left = sql`select from model_breakers where account = ${connectionId}`;
    expect(await service.deps.database.row`${left}`).toBeUndefined();
  });

  test('a request that the provider refuses is not repeated, and one that it could not answer is', async () => {
    const { key } = world;
    const connectionId = await world.account('provider-c');
    const routineId = await createRoutine(key, { model: modelOn('provider-c', connectionId) });
    world.rig.providers.control.script({ kind: 'error', status: 400 });
    expect(await runOnce(key, routineId)).toMatchObject({ reason: 'model_refused' });
    expect(world.asked()).toBe(1);
    world.rig.providers.control.script({ kind: 'error', status: 503 });
    const run = await runOnce(key, routineId);
    expect(run).toMatchObject({ state: 'succeeded' });
    expect(await world.calls(run.id)).toMatchObject([
      { requestId: `${run.id}/0/0`, state: 'failed', failure: 'model_error' },
      { requestId: `${run.id}/0/1`, state: 'succeeded' },
    ]);
  });
});
