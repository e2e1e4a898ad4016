import { expect } from 'vitest';
import { serviceTest } from '#test/support/fixtures.ts';
import { createRoutine, runEnded, runOnce } from '#test/support/routines.ts';
import { marker, requestsWith } from '#test/core/integrations/tools/support.ts';

const test = serviceTest({ worker: true });

test.afterEach(({ service }) => service.gateway.control.reset());

/** A model that writes as much as it may, and a gateway that states the usage. */
const THOUSAND = {
  times: null,
  latencyMs: 100,
  behaviour: {
    kind: 'usage' as const,
    usage: { prompt_tokens: 100, completion_tokens: 900, total_tokens: 1_000 },
  },
};

test('of fifteen runs at once, with a budget of three, no more than the budget is spent', async ({ service, key }) => {
  const mark = marker();
  service.gateway.control.script({ marker: mark, ...THOUSAND });
  const id = await createRoutine(key, {
    instructions: mark,
    limits: { maxOutputTokens: 900 },
    budget: { maxTokensPerDay: 3_100 },
  });
  const started = await Promise.all(Array.from({ length: 15 }, () => key.post(`/v1/routines/${id}/run`)));
  const runs = await Promise.all(started.map(({ data }) => runEnded(key, data.id)));
  const succeeded = runs.filter(({ state }) => state === 'succeeded');
  expect(succeeded).toHaveLength(3);
  for (const run of runs.filter(({ state }) => state !== 'succeeded')) {
    expect(run).toMatchObject({ state: 'failed', reason: 'blocked_budget', stepCount: 0 });
  }
  expect(requestsWith(service, mark)).toHaveLength(3);
  const totals = await service.deps.database
    .rows`select day_tokens, reserved_tokens from usage_totals where scope_id = ${id}`;
  expect(totals).toEqual([{ day_tokens: 3_000, reserved_tokens: 0 }]);
});

test('a step gets what its budget leaves as its maximum, and the run that used it all up says so', async ({
  service,
  key,
}) => {
  service.gateway.control.script({
    behaviour: { kind: 'text', text: 'A begin', finishReason: 'length' },
  });
  const id = await createRoutine(key, { budget: { maxTokensPerDay: 1_000 } });
  const run = await runOnce(key, id);
  expect(run).toMatchObject({ state: 'failed', reason: 'budget_exceeded', result: 'A begin' });
  const call = service.gateway.control.requests().find(({ path }) => path.includes('/chat/'));
  const { max_tokens: maxTokens } = call!.body as { max_tokens: number };
  expect(maxTokens).toBeGreaterThan(500);
  expect(maxTokens).toBeLessThan(1_000);
});

test('what a gateway does not state is estimated, said to be, and counts against the budget', async ({
  service,
  key,
}) => {
  const text = 'word '.repeat(300);
  const unstated = { kind: 'usage' as const, usage: null };
  service.gateway.control.script({ times: null, behaviour: unstated });
  const id = await createRoutine(key, {
    instructions: text,
    limits: { maxOutputTokens: 300 },
    budget: { maxTokensPerDay: 2_000 },
  });
  const first = await runOnce(key, id);
  expect(first).toMatchObject({ state: 'succeeded', usage: { estimated: true } });
  const { inputTokens, outputTokens } = first.usage;
  // Three bytes of everything that is sent count as a token.
  expect(inputTokens).toBeGreaterThanOrEqual(text.length / 3);
  expect(outputTokens).toBeGreaterThan(0);
  const [totals] = await service.deps.database.rows<{
    day: number;
  }>`select day_tokens as day from usage_totals where scope_id = ${id}`;
  expect(totals?.day).toBe(inputTokens + outputTokens);
  expect(await runOnce(key, id)).toMatchObject({ state: 'failed', reason: 'blocked_budget' });
});
