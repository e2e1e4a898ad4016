import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ModelFailure, performModelStep } from '#core/execution/steps/index.ts';
import type { NodeProcess } from '#test/support/node-process.ts';
import { FULL_SIZE } from '#test/support/properties.ts';
import { modelOn, startWorld, type World } from './world.ts';
import { claimedRun } from '#test/support/given.ts';

let world: World;
let runtime: NodeProcess;

beforeAll(async () => {
  world = await startWorld({ env: { MODEL_STEP_TIMEOUT_SECONDS: '4' } });
  runtime = await world.rig.spawn(world.runtimeEnv);
});
afterAll(() => world?.close());
beforeEach(() => world.rig.providers.control.reset());

/** Claims a run on an account with a limit of tokens, so that each attempt at its step reserves some. */
async function runOnAccount(): Promise<string> {
  const model = modelOn('provider-c', await world.account('provider-c'));
  const budget = { maxTokensPerDay: 1_000_000 };
  return (await claimedRun(world.service, world.key, { model, budget })).runId;
}

function perform(runId: string) {
  return performModelStep(world.service.deps, { runId, index: 0 }, new AbortController().signal).catch(
    (error: unknown) => error,
  );
}

/** Reads the input tokens from each place that counts them, and the tokens that are still reserved. */
function counted(runId: string) {
  return world.service.deps.database.row<Record<'run' | 'step' | 'ledger' | 'entries' | 'total' | 'reserved', number>>`
    select r.input_tokens as run, s.input_tokens as step, r.estimated_usage as estimated,
      t.day_tokens as total, t.reserved_tokens as reserved,
      (select count(*)::integer from usage_ledger where run_id = r.id) as entries,
      (select coalesce(sum(total_tokens), 0)::integer from usage_ledger where run_id = r.id) as ledger
    from runs r join steps s on s.run_id = r.id and s.index = 0 join usage_totals t on t.scope_id = r.routine_id
    where r.id = ${runId}
  `;
}

/** Expects that one call is counted with its estimated input, and that nothing is reserved. */
async function expectOneInput(runId: string): Promise<void> {
  const found = await counted(runId);
  const tokens = found?.run ?? 0;
  expect(tokens).toBeGreaterThan(0);
  const same = { run: tokens, step: tokens, ledger: tokens, total: tokens };
  expect(found).toEqual({ ...same, estimated: true, entries: 1, reserved: 0 });
}

/**
 * On each change, only the first is tested; `test/runtime/protocols.test.ts` always tests both with the runtime alone.
 */
const KINDS = ['hang', 'silent'] as const;

test.each(FULL_SIZE ? KINDS : KINDS.slice(0, 1))(
  'a call that the runtime gives up counts with its input, beside the one that follows: %s',
  async (kind) => {
    const runId = await runOnAccount();
    world.rig.providers.control.script({ kind });
    expect(await perform(runId)).toMatchObject({ reason: 'model_unreachable', cutOff: true });
    expect(await world.calls(runId)).toEqual([{ requestId: `${runId}/0/0`, state: 'failed', failure: 'timeout' }]);
    await expectOneInput(runId);
    const cut = (await counted(runId))!.run;
    expect(await perform(runId)).toEqual({ next: 'ended', state: 'succeeded' });
    const both = (await counted(runId))!;
    expect(both).toMatchObject({ entries: 2, step: both.run, total: both.ledger, reserved: 0 });
    expect(both.run).toBeGreaterThan(cut);
  },
  60_000,
);

test.runIf(FULL_SIZE)('two attempts that get the outcome of one such call count it once', async () => {
  const runId = await runOnAccount();
  world.rig.providers.control.script({ kind: 'silent' });
  const first = perform(runId);
  await expect.poll(() => world.asked()).toBe(1);
  const failures = await Promise.all([first, perform(runId)]);
  expect(failures.every((failure) => failure instanceof ModelFailure)).toBe(true);
  expect(world.asked()).toBe(1);
  await expectOneInput(runId);
});

test('a call that is lost with its runtime counts when its outcome turns out to be unknown', async () => {
  const runId = await runOnAccount();
  world.rig.providers.control.script({ kind: 'hang' });
  const lost = perform(runId);
  await expect.poll(() => world.asked()).toBe(1);
  await runtime.end('SIGKILL');
  await lost;
  runtime = await world.rig.spawn(world.runtimeEnv);
  // If the runtime was up early enough, the attempt has already learned of the lost call.
  if ((await world.calls(runId))[0]?.state === 'issued') await perform(runId);
  expect(await world.calls(runId)).toEqual([
    { requestId: `${runId}/0/0`, state: 'unknown_outcome', failure: 'unknown_outcome' },
  ]);
  await expectOneInput(runId);
});

test('a call that the provider refused counts nothing', async () => {
  const runId = await runOnAccount();
  world.rig.providers.control.script({ kind: 'error', status: 503 });
  expect(await perform(runId)).toMatchObject({ reason: 'model_error' });
  expect(await counted(runId)).toMatchObject({ run: 0, ledger: 0, entries: 0, reserved: 0 });
});
