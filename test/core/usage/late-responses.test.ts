import { expect } from 'vitest';
import { performModelStep, type ModelCaller } from '#core/execution/steps/index.ts';
import { sql } from '#lib/database/index.ts';
import { plantRoutine } from '#test/core/scheduling/planted.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { plantRun } from '#test/support/given.ts';

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
  const perform = (outputTokens: number, whenSent: () => Promise<void>) => {
    const caller: ModelCaller = {
      timeoutMs: 1_000,
      close: () => Promise.resolve(),
      async call() {
        await whenSent();
        const usage = {
          inputTokens: 100,
          cachedInputTokens: 0,
          outputTokens,
          reasoningTokens: 0,
          estimated: false,
        };
        const text = `${outputTokens} tokens`;
        return { text, messages: [], toolCalls: [], finishReason: 'stop', usage };
      },
    };
    const signal = new AbortController().signal;
    return performModelStep({ ...service.deps, caller }, { runId, index: 0 }, signal);
  };

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
