import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { ScriptInput } from '#dev/fakes/gateway/script.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { createRoutine, runEnded } from '#test/support/routines.ts';
import { changeRoutines } from '#test/support/given.ts';

const test = serviceTest({ worker: true, env: { MODEL_STEP_TIMEOUT_SECONDS: '3' } })
  /** Runs a routine whose model calls meet this fault; returns the run and the number of calls. */
  .extend('runAgainst', ({ service, key }) => async (script: ScriptInput, timeoutSeconds = 900) => {
    const marker = `Write line ${randomUUID()}.`;
    const routineId = await createRoutine(key, { instructions: marker });
    await changeRoutines(service.deps.database, routineId, { timeoutSeconds });
    service.gateway.control.script({ marker, ...script });
    const { data } = await key.post(`/v1/routines/${routineId}/run`);
    const run = await runEnded(key, data.id);
    const calls = service.gateway.control.requests().filter(({ body }) => JSON.stringify(body ?? '').includes(marker));
    return { run, calls };
  });

test('429 with Retry-After is waited for as long as it asks, and then the run succeeds', async ({ runAgainst }) => {
  const { run, calls } = await runAgainst({
    behaviour: { kind: 'error', status: 429, retryAfter: '1' },
  });
  expect(run).toMatchObject({ state: 'succeeded', stepCount: 1, steps: [{ attempt: 2 }] });
  expect(calls).toHaveLength(2);
  const waitedMs = Date.parse(calls[1]!.at) - Date.parse(calls[0]!.at);
  expect(waitedMs).toBeGreaterThanOrEqual(950);
});

// These tests run side by side, because they mostly wait.
test.concurrent('a provider that keeps responding with 500 fails the run after five attempts, each pause twice the one before, with a plain reason', async ({
  runAgainst,
}) => {
  const { run, calls } = await runAgainst({
    times: null,
    behaviour: { kind: 'error', status: 500, message: 'Out of memory.' },
  });
  expect(run).toMatchObject({ state: 'failed', reason: 'model_error', stepCount: 0, result: null });
  expect(run.errorMessage).toBe('The model provider answered 500. It said: Out of memory.');
  expect(run.steps).toMatchObject([{ state: 'failed', attempt: 5 }]);
  const times = calls.map(({ at }) => Date.parse(at));
  const pauses = times.slice(1).map((time, index) => time - times[index]!);
  expect(pauses).toHaveLength(4);
  for (const [index, ms] of [100, 200, 400, 800].entries()) {
    expect(pauses[index]).toBeGreaterThan(ms - 10);
  }
});

test.concurrent('a provider that keeps limiting the rate fails the run as model_rate_limited', async ({
  runAgainst,
}) => {
  const { run, calls } = await runAgainst({
    times: null,
    behaviour: { kind: 'error', status: 429 },
  });
  expect(run).toMatchObject({ state: 'failed', reason: 'model_rate_limited' });
  expect(run.errorMessage).toBe('The model provider answered 429. It said: Scripted failure.');
  expect(calls).toHaveLength(5);
});

test.concurrent('a request that the provider refuses is not sent again', async ({ runAgainst }) => {
  const { run, calls } = await runAgainst({ behaviour: { kind: 'error', status: 400 } });
  expect(run).toMatchObject({ state: 'failed', reason: 'model_refused', failureClass: 'routine' });
  expect(calls).toHaveLength(1);
});

test.concurrent('a response that is not JSON, or breaks off, is asked for again', async ({ runAgainst }) => {
  for (const kind of ['malformed-json', 'broken-stream', 'reset'] as const) {
    const { run, calls } = await runAgainst({ behaviour: { kind } });
    expect(run, kind).toMatchObject({ state: 'succeeded', steps: [{ attempt: 2 }] });
    expect(calls).toHaveLength(2);
  }
});

test.concurrent('a model that never responds is given up on and asked again', async ({ runAgainst }) => {
  const { run } = await runAgainst({ behaviour: { kind: 'hang' } });
  expect(run).toMatchObject({ state: 'succeeded', steps: [{ attempt: 2 }] });
});

test.concurrent('a response without an end is cut off, and the run ends with a reason', async ({ runAgainst }) => {
  const { run } = await runAgainst({ times: null, behaviour: { kind: 'endless' } }, 4);
  expect(run).toMatchObject({ state: 'failed', result: null });
  expect(['model_unreachable', 'timeout']).toContain(run.reason);
});

test('a response of more than 16 MB is refused, and not asked for again', async ({ runAgainst }) => {
  const { run, calls } = await runAgainst({
    behaviour: { kind: 'text', text: 'x'.repeat(17 * 1024 * 1024) },
  });
  expect(run).toMatchObject({
    state: 'failed',
    reason: 'model_malformed',
    errorMessage: 'The answer of the model is too large.',
    result: null,
  });
  expect(calls).toHaveLength(1);
});

/** Usage without credible figures, so that the service counts tokens from the texts. */
const ESTIMATED = {
  inputTokens: expect.toSatisfy((count: number) => count > 50),
  outputTokens: expect.toSatisfy((count: number) => count > 5),
  totalTokens: expect.toSatisfy((count: number) => count > 55),
  costUsd: expect.stringMatching(/^0\.000/),
  estimated: true,
};

test.for<[unknown, Record<string, unknown>]>([
  [null, ESTIMATED],
  [{}, ESTIMATED],
  [{ prompt_tokens: null, completion_tokens: null, total_tokens: null }, ESTIMATED],
  [{ prompt_tokens: 0, completion_tokens: 0, completion_tokens_details: { reasoning_tokens: 900 } }, ESTIMATED],
  [
    { prompt_tokens: 1.5, completion_tokens: 2.4, total_tokens: 3.9 },
    { inputTokens: 2, outputTokens: 2, totalTokens: 4, costUsd: '0.0000015' },
  ],
  [
    { prompt_tokens: 3, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 900 } },
    // Cached tokens are part of the input, so they cannot exceed it.
    {
      inputTokens: 3,
      cachedInputTokens: 3,
      outputTokens: 5,
      totalTokens: 8,
      costUsd: '0.000003225',
    },
  ],
])(
  'usage that makes no sense, %j, is counted and fails no run that has its text',
  async ([usage, counted], { runAgainst }) => {
    const { run } = await runAgainst({ behaviour: { kind: 'usage', usage } });
    expect(run.state).toBe('succeeded');
    expect(run.usage).toEqual({ ...NOTHING_USED, ...counted });
  },
);

test.for([
  [{ prompt_tokens: -5, completion_tokens: 1e300, total_tokens: -1 }],
  [{ prompt_tokens: 1e17, completion_tokens: 1e17, prompt_tokens_details: { cached_tokens: 1e17 } }],
  [{ prompt_tokens: 12, completion_tokens: -1, completion_tokens_details: { reasoning_tokens: 4e9 } }],
  [{ prompt_tokens: 130_000, completion_tokens: 126_001 }],
])(
  'usage that cannot be, %j, is estimated, with a warning, and spoils no total',
  async ([usage], { service, runAgainst }) => {
    const { run } = await runAgainst({ behaviour: { kind: 'usage', usage } });
    expect(run.state).toBe('succeeded');
    expect(run.usage).toEqual({ ...NOTHING_USED, ...ESTIMATED });
    expect(run.steps[0].warnings).toMatchObject([
      { code: 'usage_not_believed', message: expect.stringContaining('counted') },
    ]);
    const totals = await service.deps.database.row<{ tokens: number }>`
    select day_tokens::int as tokens from usage_totals where scope_id = ${run.routineId}
  `;
    expect(totals?.tokens).toBe(run.usage.totalTokens);
  },
);

test('usage up to window and limit is believed', async ({ runAgainst }) => {
  const usage = { prompt_tokens: 128_000, completion_tokens: 128_000 };
  const { run } = await runAgainst({ behaviour: { kind: 'usage', usage } });
  expect(run.usage).toMatchObject({ totalTokens: 256_000, estimated: false });
  expect(run.steps[0].warnings).toEqual([]);
});

test('of a response that broke off, usage that cannot be counts as its input', async ({ runAgainst }) => {
  const usage = { prompt_tokens: 1e17, completion_tokens: 3 };
  const { run } = await runAgainst({ behaviour: { kind: 'usage', usage }, form: { finishReason: 'error' } });
  expect(run).toMatchObject({ state: 'succeeded', usage: { estimated: true }, steps: [{ attempt: 2 }] });
  expect(run.usage.totalTokens).toBeLessThan(2_000);
});

test('counts that a gateway writes as decimal texts are counted; what is no whole number is asked for again', async ({
  runAgainst,
}) => {
  const usage = {
    prompt_tokens: '12',
    completion_tokens: '0034',
    total_tokens: '46',
    prompt_tokens_details: { cached_tokens: '5' },
    completion_tokens_details: { reasoning_tokens: '7' },
  };
  const { run, calls } = await runAgainst({ behaviour: { kind: 'usage', usage } });
  expect(run).toMatchObject({
    state: 'succeeded',
    usage: { inputTokens: 12, cachedInputTokens: 5, outputTokens: 34, reasoningTokens: 7 },
  });
  expect(calls).toHaveLength(1);

  const claims = ['many', '-5', '1.5', '1e3', '0x10', '', ' 12', '9'.repeat(16)];
  const nonsense = (claim: string) =>
    runAgainst({ behaviour: { kind: 'usage', usage: { ...usage, prompt_tokens: claim } } });
  for (const [index, again] of (await Promise.all(claims.map(nonsense))).entries()) {
    expect(again.run, claims[index]).toMatchObject({ state: 'succeeded', steps: [{ attempt: 2 }] });
    expect(again.calls).toHaveLength(2);
  }
});

test('a response without text fails as model_empty, one cut at the limit as output_truncated', async ({
  runAgainst,
}) => {
  const empty = await runAgainst({ behaviour: { kind: 'text', text: '' } });
  expect(empty.run).toMatchObject({ state: 'failed', reason: 'model_empty', stepCount: 1 });
  const cut = await runAgainst({
    behaviour: { kind: 'text', text: 'Half a', finishReason: 'length' },
  });
  expect(cut.run).toMatchObject({ state: 'failed', reason: 'output_truncated', result: 'Half a' });
  const withheld = await runAgainst({
    behaviour: { kind: 'text', text: 'Something', finishReason: 'content_filter' },
  });
  expect(withheld.run).toMatchObject({ state: 'failed', reason: 'content_filtered' });
});

test('text with NUL, half a surrogate pair and escapes in it is kept, with what cannot be stored replaced', async ({
  runAgainst,
}) => {
  const text = 'a\u0000b\ud800c \\u0000 \u{1F600}';
  const { run } = await runAgainst({ behaviour: { kind: 'text', text } });
  expect(run.state).toBe('succeeded');
  expect(run.result).toBe('a\uFFFDb\uFFFDc \\u0000 \u{1F600}');
});

test('a text of megabytes is kept whole', async ({ runAgainst }) => {
  const text = 'All work and no play. '.repeat(150_000);
  const { run } = await runAgainst({ behaviour: { kind: 'text', text } });
  expect(run.state).toBe('succeeded');
  expect(run.result).toHaveLength(text.length);
});

const NOTHING_USED = {
  inputTokens: 0,
  cachedInputTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  totalTokens: 0,
  estimated: false,
  costUsd: '0',
};
