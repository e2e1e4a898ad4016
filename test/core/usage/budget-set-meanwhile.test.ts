import { expect } from 'vitest';
import { performModelStep, type ModelCaller } from '#core/execution/steps/index.ts';
import { AT_ONCE } from '#lib/database/index.ts';
import { plantRoutine, type Planted } from '#test/core/scheduling/planted.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import type { Service } from '#test/support/service.ts';
import { changeProjects, plantRun } from '#test/support/given.ts';

const test = serviceTest();

function admittedRun({ deps: { database } }: Service, routine: Planted): Promise<string> {
  return plantRun(database, routine.id, { maxSteps: 20, timeoutSeconds: 900, admittedAt: AT_ONCE });
}

/** Tokens that the call of a run without a limit uses. */
const USED = 5_000;

test('a budget that is set while a call without a limit is out counts that call, and binds every later one', async ({
  service,
}) => {
  const { database } = service.deps;
  const routine = await plantRoutine(database);
  const [runId, nextId] = [await admittedRun(service, routine), await admittedRun(service, routine)];
  let calls = 0;
  const caller: ModelCaller = {
    timeoutMs: 60_000,
    close: () => Promise.resolve(),
    async call() {
      calls += 1;
      await changeProjects(database, routine.projectId, { maxTokensPerDay: USED - 1 });
      return {
        text: '',
        messages: [{ role: 'assistant', content: 'On it.' }],
        toolCalls: [{ callId: 'call', name: 'none', input: {}, invalid: true }],
        finishReason: 'tool-calls',
        usage: {
          inputTokens: USED,
          cachedInputTokens: 0,
          outputTokens: 0,
          reasoningTokens: 0,
          estimated: false,
        },
      };
    },
  };
  const perform = (id: string, index: number) => {
    const { signal } = new AbortController();
    return performModelStep({ ...service.deps, caller }, { runId: id, index }, signal);
  };
  const first = await perform(runId, 0);
  if (first.next !== 'continue') throw new Error(`the run did not go on: ${first.next}`);
  const ended = { next: 'ended', state: 'failed' };
  expect([await perform(runId, first.nextIndex), await perform(nextId, 0)]).toEqual([ended, ended]);
  expect(calls).toBe(1);
  const reasons = await database.row`
    select (select reason from runs where id = ${runId}) as own, (select reason from runs where id = ${nextId}) as next,
      (select day_tokens from usage_totals where scope_id = ${routine.projectId}) as used
  `;
  expect(reasons).toEqual({ own: 'budget_exceeded', next: 'blocked_budget', used: USED });
});
