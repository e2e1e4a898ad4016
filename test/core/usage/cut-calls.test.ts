import { expect } from 'vitest';
import { ModelFailure, performModelStep, settleLostCalls, type ModelCaller } from '#core/execution/steps/index.ts';
import { countInput } from '#core/clients/gateway/index.ts';
import { AT_ONCE, transaction } from '#lib/database/index.ts';
import { plantRoutine } from '#test/core/scheduling/planted.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { modelResponse } from '#test/support/model-caller.ts';
import type { Service } from '#test/support/service.ts';
import { changeReservations, changeRuns, plantRun } from '#test/support/given.ts';
import { FULL_SIZE } from '#test/support/properties.ts';

const test = serviceTest({ own: true });

async function admittedRun({ deps: { database } }: Service, timeoutSeconds = 900): Promise<string> {
  const routine = await plantRoutine(database, { maxTokensPerDay: 1_000_000 });
  return plantRun(database, routine.id, { timeoutSeconds, admittedAt: new Date() });
}

/** Makes a provider that never responds; `sent` resolves with the counted input of the request. */
function silentCaller({ sends = true } = {}) {
  const sent = Promise.withResolvers<number>();
  const caller: ModelCaller = {
    timeoutMs: 60_000,
    close: () => Promise.resolve(),
    call(input) {
      if (sends) input.onSend?.();
      sent.resolve(countInput(input));
      return new Promise((_, reject) => {
        input.signal.addEventListener('abort', () => reject(input.signal.reason as Error));
      });
    },
  };
  return { caller, sent: sent.promise };
}

/** A response that states a hundred tokens. */
const DONE = modelResponse('Done.', { outputTokens: 0 });

function settleLost({ deps }: Service): Promise<void> {
  return settleLostCalls(deps, new AbortController().signal);
}

/** Reads every sum about the run: tokens, and the tokens that are still reserved. */
async function sums({ deps: { database } }: Service, runId: string) {
  const [found] = await database.rows`
    select r.input_tokens as run, r.estimated_usage as estimated, s.input_tokens as step,
      (select coalesce(sum(total_tokens), 0)::integer from usage_ledger where run_id = r.id) as ledger,
      (select day_tokens from usage_totals where scope_id = r.routine_id) as total,
      (select reserved_tokens from usage_totals where scope_id = r.routine_id) as reserved,
      (select coalesce(sum(input_tokens), 0)::integer from usage_days where routine_id = r.routine_id) as day,
      (select coalesce(sum(steps), 0)::integer from usage_days where routine_id = r.routine_id) as steps
    from runs r join steps s on s.run_id = r.id where r.id = ${runId}
  `;
  return found;
}

function all(tokens: number) {
  const same = { run: tokens, step: tokens, ledger: tokens, total: tokens, day: tokens };
  return { ...same, estimated: tokens > 0, reserved: 0, steps: 0 };
}

test('a call that a cancellation cuts off counts with its input, as estimated', async ({ service }) => {
  const runId = await admittedRun(service);
  const { caller, sent } = silentCaller();
  const cancellation = new AbortController();
  const step = performModelStep({ ...service.deps, caller }, { runId, index: 0 }, cancellation.signal);
  const input = await sent;
  await changeRuns(service.deps.database, runId, { cancelRequestedAt: AT_ONCE });
  cancellation.abort(new Error('cancelled'));
  await expect(step).rejects.toThrow('cancelled');
  expect(input).toBeGreaterThan(0);
  expect(await sums(service, runId)).toEqual(all(input));
});

test.runIf(FULL_SIZE)('a call that the end of the run’s time cuts off does so too', async ({ service }) => {
  const runId = await admittedRun(service, 5);
  const { caller, sent } = silentCaller();
  const step = performModelStep({ ...service.deps, caller }, { runId, index: 0 }, new AbortController().signal);
  const input = await sent;
  expect(await step).toEqual({ next: 'ended', state: 'failed' });
  expect(await sums(service, runId)).toEqual(all(input));
});

test('a call that was given up because it took too long counts beside the one that follows', async ({ service }) => {
  const runId = await admittedRun(service);
  const inputs: number[] = [];
  const caller: ModelCaller = {
    timeoutMs: 60_000,
    close: () => Promise.resolve(),
    async call(input) {
      input.onSend?.();
      inputs.push(countInput(input));
      if (inputs.length === 1) {
        const options = { retryable: true, cutOff: true };
        throw new ModelFailure('model_unreachable', 'No answer.', options);
      }
      return DONE;
    },
  };
  const perform = () =>
    performModelStep({ ...service.deps, caller }, { runId, index: 0 }, new AbortController().signal);
  await expect(perform()).rejects.toThrow('No answer.');
  expect(await sums(service, runId)).toEqual(all(inputs[0]!));
  expect(await perform()).toEqual({ next: 'ended', state: 'succeeded' });
  expect(await sums(service, runId)).toEqual({ ...all(inputs[0]! + 100), steps: 1 });
});

test('a call that a stopping worker cuts off counts beside the one that another makes', async ({ service }) => {
  const runId = await admittedRun(service);
  const { caller, sent } = silentCaller();
  const stop = new AbortController();
  const step = performModelStep({ ...service.deps, caller }, { runId, index: 0 }, stop.signal);
  const input = await sent;
  stop.abort(new Error('stopped'));
  await expect(step).rejects.toThrow('stopped');
  expect(await sums(service, runId)).toEqual(all(input));
});

test('a call that died with its process counts once its time is over, and its response if it comes after all', async ({
  service,
}) => {
  const { database } = service.deps;
  const runId = await admittedRun(service);
  const respond = Promise.withResolvers<void>();
  const sent = Promise.withResolvers<number>();
  const caller: ModelCaller = {
    timeoutMs: 60_000,
    close: () => Promise.resolve(),
    async call(input) {
      input.onSend?.();
      sent.resolve(countInput(input));
      await respond.promise;
      return DONE;
    },
  };
  const step = performModelStep({ ...service.deps, caller }, { runId, index: 0 }, new AbortController().signal);
  const input = await sent.promise;
  await settleLost(service);
  expect(await sums(service, runId)).toMatchObject({ ledger: 0, reserved: expect.any(Number) });
  await changeReservations(database, { runId }, { leasedUntil: AT_ONCE });
  // The process that works on the run may be storing the response, so the tick does not wait for it.
  await transaction(database, async (tx) => {
    await tx.run`select from runs where id = ${runId} for update`;
    await settleLost(service);
  });
  expect(await sums(service, runId)).toMatchObject({ ledger: 0 });
  await Promise.all([settleLost(service), settleLost(service)]);
  expect(await sums(service, runId)).toEqual(all(input));
  respond.resolve();
  expect(await step).toEqual({ next: 'ended', state: 'succeeded' });
  expect(await sums(service, runId)).toEqual({ ...all(input + 100), steps: 1 });
});

test('a reservation that is older than the count of cut calls is only released', async ({ service }) => {
  const runId = await admittedRun(service);
  const { caller, sent } = silentCaller();
  void performModelStep({ ...service.deps, caller }, { runId, index: 0 }, new AbortController().signal);
  await sent;
  const unstated = { inputTokens: null, inputCostUsd: null, leasedUntil: AT_ONCE };
  await changeReservations(service.deps.database, { runId }, unstated);
  await settleLost(service);
  expect(await sums(service, runId)).toEqual(all(0));
});

test('a call that never went out counts nothing', async ({ service }) => {
  for (const isCancelled of [false, true]) {
    const runId = await admittedRun(service);
    const { caller, sent } = silentCaller({ sends: false });
    const stop = new AbortController();
    const step = performModelStep({ ...service.deps, caller }, { runId, index: 0 }, stop.signal);
    await sent;
    if (isCancelled) {
      await changeRuns(service.deps.database, runId, { cancelRequestedAt: AT_ONCE });
    }
    stop.abort(new Error('stopped'));
    await expect(step).rejects.toThrow('stopped');
    expect(await sums(service, runId)).toEqual(all(0));
  }
});

test('a run that waits for a budget settles the lost calls that hold something of it, and no others', async ({
  service,
}) => {
  const { database } = service.deps;
  const runs = [await admittedRun(service), await admittedRun(service)];
  const given = new AbortController();
  const steps: Promise<unknown>[] = [];
  for (const runId of runs) {
    const { caller, sent } = silentCaller();
    const input = { runId, index: 0 };
    steps.push(performModelStep({ ...service.deps, caller }, input, given.signal).catch(() => 0));
    await sent;
  }
  for (const runId of runs) {
    await changeReservations(database, { runId }, { leasedUntil: AT_ONCE });
  }
  const [waiter] = await database.rows<{
    organizationId: string;
    projectId: string;
    routineId: string;
  }>`
    select organization_id as "organizationId", project_id as "projectId", routine_id as "routineId"
    from runs where id = ${runs[0]}
  `;
  const held = async () => {
    const found = await database.rows<{
      id: string;
    }>`select run_id as id from usage_reservations where run_id = any(${runs})`;
    return found.map(({ id }) => id);
  };
  await settleLostCalls(service.deps, given.signal, waiter);
  expect(await held()).toEqual([runs[1]]);
  await settleLost(service);
  expect(await held()).toEqual([]);
  given.abort();
  await Promise.all(steps);
});
