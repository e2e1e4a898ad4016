import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { performModelStep } from '#core/execution/steps/index.ts';
import { AT_ONCE, transaction } from '#lib/database/index.ts';
import { modelOn, startWorld, type World } from './world.ts';
import { changeCalls, changeRuns, claimedRun } from '#test/support/given.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld();
  await world.rig.start(world.runtimeEnv);
});
afterAll(() => world?.close());
beforeEach(() => world.rig.providers.control.reset());

/** Claims a run on an account with a limit of tokens, so that each attempt at its step reserves some. */
async function runOnAccount() {
  const model = modelOn('provider-c', await world.account('provider-c'));
  return claimedRun(world.service, world.key, { model, budget: { maxTokensPerDay: 1_000_000 } });
}

/** Makes two attempts at the first step. The second begins while the call of the first is under way. */
async function twoAttempts(runId: string) {
  world.rig.providers.control.script({ kind: 'slow', pauseMs: 150 });
  const perform = () => performModelStep(world.service.deps, { runId, index: 0 }, new AbortController().signal);
  const first = perform();
  await expect.poll(() => world.asked()).toBe(1);
  const second = perform();
  await expect
    .poll(
      () =>
        world.service.deps.database.row`select attempt, reserved_tokens > 0 as reserved from steps
          join runs on runs.id = run_id join usage_totals t on t.scope_id = runs.routine_id
          where run_id = ${runId}`,
    )
    .toEqual({ attempt: 2, reserved: true });
  return Promise.all([first, second]);
}

/** Reads the tokens from each place that counts them, and the tokens that are still reserved. */
function counted(runId: string) {
  return world.service.deps.database.row<Record<'ledger' | 'entries' | 'total' | 'reserved' | 'run' | 'step', number>>`
    select r.input_tokens + r.output_tokens as run, s.input_tokens + s.output_tokens as step,
      t.day_tokens as total, t.reserved_tokens as reserved,
      (select count(*)::integer from usage_ledger where run_id = r.id) as entries,
      (select sum(total_tokens)::integer from usage_ledger where run_id = r.id) as ledger
    from runs r join steps s on s.run_id = r.id and s.index = 0 join usage_totals t on t.scope_id = r.routine_id
    where r.id = ${runId}
  `;
}

/** Returns the tokens that one such call uses. */
async function usedByOne(): Promise<number> {
  const { runId } = await runOnAccount();
  const signal = new AbortController().signal;
  await performModelStep(world.service.deps, { runId, index: 0 }, signal);
  const found = await counted(runId);
  world.rig.providers.control.reset();
  return found!.run;
}

test('two attempts that are given the response of one call count its usage once', async () => {
  const used = await usedByOne();
  const { runId } = await runOnAccount();
  expect(await twoAttempts(runId)).toEqual([
    { next: 'ended', state: 'succeeded' },
    { next: 'ended', state: 'succeeded' },
  ]);
  expect(world.asked()).toBe(1);
  expect(await world.calls(runId)).toEqual([{ requestId: `${runId}/0/0`, state: 'succeeded', failure: null }]);
  expect(await counted(runId)).toEqual({
    run: used,
    step: used,
    total: used,
    ledger: used,
    entries: 1,
    reserved: 0,
  });
});

test('a response that comes when its run has ended is spend, once for all attempts', async () => {
  const used = await usedByOne();
  const { runId } = await runOnAccount();
  const { database } = world.service.deps;
  const attempts = twoAttempts(runId);
  await expect.poll(() => world.asked()).toBe(1);
  await expect.poll(() => database.rows`select attempt from steps where run_id = ${runId}`).toEqual([{ attempt: 2 }]);
  // Change the rows as every end of a run does.
  await transaction(database, async (tx) => {
    await changeRuns(tx, runId, { state: 'cancelled', finishedAt: AT_ONCE });
    const unknown = { state: 'unknown_outcome', failure: 'run_ended', endedAt: AT_ONCE };
    await changeCalls(tx, { runId }, unknown);
  });
  await attempts;
  expect(await counted(runId)).toEqual({
    run: used,
    step: used,
    total: used,
    ledger: used,
    entries: 1,
    reserved: 0,
  });
  expect(await world.calls(runId)).toEqual([{ requestId: `${runId}/0/0`, state: 'succeeded', failure: 'run_ended' }]);
});

test('nothing is asked for a run that ends before its call is issued, and nothing stays reserved', async () => {
  const { runId } = await runOnAccount();
  const { deps } = world.service;
  const { database } = deps;
  const perform = () => performModelStep(deps, { runId, index: 0 }, new AbortController().signal);
  const { attempt } = await transaction(database, async (tx) => {
    // The issue of a call locks the account before anything else.
    await tx.row`select c.id from model_connections c join runs on model_connection_id = c.id where runs.id = ${runId} for update of c`;
    const attempt = perform();
    await expect.poll(() => counted(runId).then((found) => found!.reserved)).toBeGreaterThan(0);
    await changeRuns(database, runId, { state: 'cancelled', finishedAt: AT_ONCE });
    return { attempt };
  });
  expect(await attempt).toEqual({ next: 'ended', state: 'cancelled' });
  expect([world.asked(), await world.calls(runId)]).toEqual([0, []]);
  expect(await counted(runId)).toMatchObject({ run: 0, total: 0, entries: 0, reserved: 0 });
});
