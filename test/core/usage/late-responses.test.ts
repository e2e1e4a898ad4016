import { expect } from 'vitest';
import { cancellation } from '#core/execution/run-states/index.ts';
import { endRun } from '#core/execution/runs/index.ts';
import { performModelStep, type ModelCaller, type ModelResponse } from '#core/execution/steps/index.ts';
import { sql } from '#lib/database/index.ts';
import { plantRoutine } from '#test/core/scheduling/planted.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { plantRun } from '#test/support/given.ts';
import type { Service } from '#test/support/service.ts';

const test = serviceTest({ own: true });

test('a second response to a step is spend too, in the ledger, the totals, the step and its run', async ({
  service,
}) => {
  const { database } = service.deps;
  const routine = await plantRoutine(database, { maxTokensPerDay: 1_000_000 });
  const runId = await plantRun(database, routine.id, {
    timeoutSeconds: 900,
    admittedAt: new Date(),
  });
  const arrived = Promise.withResolvers<void>();
  const late = Promise.withResolvers<void>();
  const perform = (outputTokens: number, whenSent: () => Promise<void>) =>
    performed(service, runId, { outputTokens, whenSent });

  const overtaken = perform(30, () => {
    arrived.resolve();
    return late.promise;
  });
  await arrived.promise;
  await perform(7, () => Promise.resolve());
  const reserved = sql`select reserved_tokens from usage_totals where scope_id = ${routine.id}`;
  const [held] = await database.rows<{ reserved_tokens: number }>`${reserved}`;
  expect(held!.reserved_tokens).toBeGreaterThan(30);
  late.resolve();
  expect(await overtaken).toEqual({ next: 'ended', state: 'succeeded' });

  expect(
    await database.rows`select attempt, total_tokens from usage_ledger where run_id = ${runId} order by attempt`,
  ).toEqual([
    { attempt: 1, total_tokens: 130 },
    { attempt: 2, total_tokens: 107 },
  ]);
  expect(
    await database.rows`
      select t.day_tokens, t.reserved_tokens, r.step_count, r.result, r.input_tokens + r.output_tokens as run,
        s.input_tokens + s.output_tokens as step, s.text, d.steps
      from runs r join steps s on s.run_id = r.id join usage_totals t on t.scope_id = r.routine_id
      join usage_days d on d.routine_id = r.routine_id
    `,
  ).toEqual([
    {
      day_tokens: 237,
      reserved_tokens: 0,
      step_count: 1,
      result: '7 tokens',
      run: 237,
      step: 237,
      text: '7 tokens',
      steps: 1,
    },
  ]);
});

test('calls of tools that come after the end of their run become no steps, and are paid for', async ({ service }) => {
  const { database } = service.deps;
  const routine = await plantRoutine(database, { maxTokensPerDay: 1_000_000 });
  const runId = await plantRun(database, routine.id, { timeoutSeconds: 900, admittedAt: new Date() });
  const toolCalls = [{ callId: 'late', name: 'send_message', input: { to: 'ada' }, invalid: false }];
  const whenSent = () => endRun(service.deps, runId, cancellation);
  const performing = performed(service, runId, { outputTokens: 30, toolCalls, whenSent });
  expect(await performing).toEqual({ next: 'ended', state: 'cancelled' });
  const steps = await database.rows`
    select kind, state, input_tokens + output_tokens as tokens from steps where run_id = ${runId}
  `;
  expect(steps).toEqual([{ kind: 'model', state: 'failed', tokens: 130 }]);
});

interface Given {
  readonly outputTokens: number;
  readonly toolCalls?: ModelResponse['toolCalls'];
  /** Called while the model works. */
  readonly whenSent: () => Promise<void>;
}

/** Performs the first step of a run with a response of the test's own. */
function performed({ deps }: Service, runId: string, { outputTokens, toolCalls = [], whenSent }: Given) {
  const caller: ModelCaller = {
    timeoutMs: 1_000,
    close: () => Promise.resolve(),
    async call() {
      await whenSent();
      const usage = { inputTokens: 100, cachedInputTokens: 0, outputTokens, reasoningTokens: 0, estimated: false };
      const finishReason = toolCalls.length === 0 ? 'stop' : 'tool-calls';
      return { text: `${outputTokens} tokens`, messages: [], toolCalls, finishReason, usage };
    },
  };
  return performModelStep({ ...deps, caller }, { runId, index: 0 }, new AbortController().signal);
}
