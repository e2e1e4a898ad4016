import { expect } from 'vitest';
import { PREAMBLE } from '#core/execution/prompt/index.ts';
import { performModelStep, type ModelCaller } from '#core/execution/steps/index.ts';
import { REMINDER } from '#core/authoring/outcomes/finish.ts';
import { startReceiver } from '#test/lib/outbound/receiver.ts';
import type { ApiClient } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';
import { startService, type Service } from '#test/support/service.ts';
import { signUp } from '#test/support/people.ts';
import { marker, requestsWith, toolSteps, type Json } from '#test/core/integrations/tools/support.ts';
import { openStream } from '#test/core/execution/run-events/event-source.ts';
import { changeRuns, claimedRun } from '#test/support/given.ts';

const REPORT = '# Weekly report\n\nTwo pages are slower than last week.';

interface Turn {
  readonly text?: string | null;
  readonly calls?: readonly { readonly name: string; readonly arguments: Json }[];
}

const test = serviceTest({ worker: true }).extend(
  'runThrough',
  /** Makes a run of a routine that requires an outcome, whose model gives these turns in order. */
  ({ service, key }) =>
    async (turns: readonly Turn[], fields: Record<string, unknown> = {}) => {
      const mark = marker();
      script(service, mark, turns);
      const routineId = await createRoutine(key, {
        instructions: mark,
        outcome: 'required',
        ...fields,
      });
      const run = await runOnce(key, routineId);
      return { run, routineId, requests: requestsWith(service, mark) };
    },
);

test.afterEach(({ service }) => service.gateway.control.reset());

function script(service: Service, mark: string, turns: readonly Turn[]): void {
  for (const { text = null, calls = [] } of turns) {
    service.gateway.control.script({
      marker: mark,
      behaviour:
        calls.length === 0 ? { kind: 'text', text: text ?? '' } : { kind: 'tool-calls', calls: [...calls], text },
    });
  }
}

function finish(outcome: string, summary = 'Two pages got slower.') {
  return { name: 'finish', arguments: { outcome, summary } };
}

test.for(['done', 'nothing_to_report', 'partial'] as const)(
  'a run that states %s succeeds with it, in the one step in which it calls finish',
  async (outcome, { runThrough }) => {
    const { run } = await runThrough([{ text: REPORT, calls: [finish(outcome)] }]);
    expect(run).toMatchObject({
      state: 'succeeded',
      reason: null,
      outcome,
      outcomeSummary: 'Two pages got slower.',
      checks: [],
      result: REPORT,
      stepCount: 1,
    });
    expect(run.steps).toHaveLength(1);
  },
);

test('a result has the urgency that its model states, and none without news', async ({ runThrough }) => {
  const stated = async (outcome: string, urgency?: string) => {
    const call = finish(outcome);
    const { run } = await runThrough([{ calls: [{ ...call, arguments: { ...call.arguments, urgency } }] }]);
    return [run.state, run.urgency];
  };
  expect(await stated('done', 'high')).toEqual(['succeeded', 'high']);
  expect(await stated('done', 'none')).toEqual(['succeeded', 'none']);
  expect(await stated('partial')).toEqual(['succeeded', 'normal']);
  // An unknown word of the model does not cost the result.
  expect(await stated('done', 'URGENT: wake everyone')).toEqual(['succeeded', 'normal']);
  expect(await stated('nothing_to_report', 'high')).toEqual(['succeeded', 'none']);
  expect(await stated('could_not', 'high')).toEqual(['failed', null]);
});

test('a run that could not do its work failed, says so, and proves nothing', async ({ key, runThrough }) => {
  const why = 'The site could not be reached.';
  const { run, routineId } = await runThrough([{ calls: [finish('could_not', why)] }]);
  expect(run).toMatchObject({
    state: 'failed',
    reason: 'could_not',
    failureClass: 'routine',
    outcome: null,
    outcomeSummary: why,
    result: why,
  });
  const refused = await key.post(`/v1/routines/${routineId}/activate`);
  expect(refused.body.error.code).toBe('successful_run_required');
});

test('without a text beside the call the summary is the result', async ({ runThrough }) => {
  const { run } = await runThrough([{ text: ' \n', calls: [finish('nothing_to_report')] }]);
  expect(run).toMatchObject({ state: 'succeeded', result: 'Two pages got slower.' });
});

test('a long summary is whole as the result and cut as the summary', async ({ runThrough }) => {
  const summary = `${'x'.repeat(499)}👍${'y'.repeat(100)}`;
  const { run } = await runThrough([{ calls: [finish('done', summary)] }]);
  expect(run.result).toBe(summary);
  expect(run.outcomeSummary).toBe('x'.repeat(499));
});

test('a model that ends without finish is reminded once, and what it wrote stays the result', async ({
  runThrough,
}) => {
  const { run, requests } = await runThrough([{ text: REPORT }, { calls: [finish('done')] }]);
  expect(run).toMatchObject({ state: 'succeeded', outcome: 'done', result: REPORT, stepCount: 2 });
  expect(requests[1].body.messages.slice(-2)).toMatchObject([{ role: 'assistant', content: REPORT }, REMINDER]);
});

test('text beside a call after the reminder replaces what was written before', async ({ runThrough }) => {
  const turns = [{ text: 'Let me look.' }, { text: REPORT, calls: [finish('partial')] }];
  const { run } = await runThrough(turns);
  expect(run).toMatchObject({ state: 'succeeded', outcome: 'partial', result: REPORT });
});

test('a model that does not finish when reminded fails its run with what it wrote', async ({ runThrough }) => {
  const { run, requests } = await runThrough([{ text: 'First.' }, { text: REPORT }]);
  expect(run).toMatchObject({
    state: 'failed',
    reason: 'outcome_missing',
    failureClass: 'routine',
    outcome: null,
    outcomeSummary: null,
    result: REPORT,
    stepCount: 2,
  });
  expect(requests).toHaveLength(2);
  const silent = await runThrough([{ text: REPORT }, { text: '' }]);
  expect(silent.run).toMatchObject({ reason: 'outcome_missing', result: REPORT });
});

test('the limits of a run hold for the step that a reminder needs', async ({ runThrough }) => {
  const { run } = await runThrough([{ text: REPORT }], { limits: { maxSteps: 1 } });
  expect(run).toMatchObject({ state: 'failed', reason: 'max_steps', result: REPORT });
});

test('finish beside other calls is refused, the others are made, and the run goes on', async ({ runThrough }) => {
  const sum = { name: 'calculate', arguments: { operation: 'arithmetic', expression: '2 + 2' } };
  const { run, requests } = await runThrough(
    [{ calls: [finish('done'), sum] }, { text: REPORT, calls: [finish('done')] }],
    { builtInTools: ['calculate'] },
  );
  expect(run).toMatchObject({ state: 'succeeded', outcome: 'done', stepCount: 2 });
  expect(toolSteps(run)).toMatchObject([
    { state: 'succeeded', tool: { name: 'calculate' } },
    {
      state: 'failed',
      errorMessage:
        'Refused: the response asks for other tools too; look at what they return, then call finish by itself.',
      startedAt: null,
      tool: { name: 'finish', arguments: JSON.stringify(finish('done').arguments) },
    },
  ]);
  // Every call has a result, because providers refuse calls without one.
  const [call, ...results] = requests[1].body.messages.slice(-3);
  expect(results.map(({ tool_call_id: id }: Json) => id).toSorted()).toEqual(
    call.tool_calls.map(({ id }: Json) => id).toSorted(),
  );
  expect(JSON.stringify(results)).toContain('call finish by itself. The call was not made.');
});

test.for<[string, Turn['calls'], string]>([
  ['twice at once', [finish('done'), finish('partial')], 'finish was called more than once'],
  ['with an unknown outcome', [finish('success')], 'outcome must be one of done, nothing_to_report'],
  ['without a summary', [finish('done', ' ')], 'summary must say'],
  ['with no object', [{ name: 'finish', arguments: '[]' }], 'outcome must be one of'],
  ['with broken JSON', [{ name: 'finish', arguments: '{"outcome":' }], 'not valid JSON'],
])('finish called %s is refused with the reason, and can be called again', async ([, calls, why], { runThrough }) => {
  const turns: Turn[] = [
    { text: 'Early.', calls: calls ?? [] },
    { text: REPORT, calls: [finish('done')] },
  ];
  const { run, requests } = await runThrough(turns);
  expect(run).toMatchObject({ state: 'succeeded', outcome: 'done', result: REPORT });
  expect(toolSteps(run)).toHaveLength(calls?.length ?? 0);
  for (const step of toolSteps(run)) expect(step.errorMessage).toContain(why);
  expect(requests).toHaveLength(2);
});

test('a model is told of finish only where its routine requires the outcome', async ({ service, key, runThrough }) => {
  const { run, routineId, requests } = await runThrough([{ calls: [finish('done')] }]);
  expect(requests[0].body.tools.map((tool: Json) => tool.function.name)).toEqual(['finish']);
  expect(run.briefing).toContain('- Tools: finish\n');
  expect(run.briefing).toContain('- How to end: write the result as a message and call finish');
  const { data: routine } = await key.get(`/v1/routines/${routineId}`);
  expect(routine).toMatchObject({
    outcome: 'required',
    callableTools: [{ name: 'finish', connectionId: null, policyId: null }],
  });

  const mark = marker();
  const plain = await runOnce(key, await createRoutine(key, { instructions: mark }));
  expect(plain).toMatchObject({
    state: 'succeeded',
    outcome: 'done',
    outcomeSummary: null,
    checks: [],
  });
  const [request] = requestsWith(service, mark);
  expect(request.body.tools).toBeUndefined();
  expect(JSON.stringify(request.body)).not.toContain('finish');
  expect(PREAMBLE).not.toContain('finish');
});

test('list, event stream and webhook have the outcome, and the list can be filtered by it', async ({
  service,
  key,
  bobsKey,
  runThrough,
}) => {
  const receiver = await startReceiver((_request, response) => response.end());
  const { run, routineId } = await runThrough([{ calls: [finish('nothing_to_report')] }], {
    webhookUrl: receiver.origin,
  });
  const told = {
    outcome: 'nothing_to_report',
    outcomeSummary: 'Two pages got slower.',
    checks: [],
  };
  expect(run).toMatchObject({ state: 'succeeded', ...told });
  const listed = await key.get('/v1/runs?outcome=nothing_to_report&limit=1');
  expect(listed.data).toMatchObject([{ id: run.id, ...told }]);
  expect((await key.get(`/v1/routines/${routineId}/runs?outcome=done`)).data).toEqual([]);
  const ofRoutine = await key.get(`/v1/routines/${routineId}/runs?outcome=nothing_to_report`);
  expect(ofRoutine.data).toHaveLength(1);
  expect((await bobsKey.get('/v1/runs?outcome=nothing_to_report')).data).toEqual([]);
  expect((await key.get('/v1/runs?outcome=could_not')).status).toBe(400);

  const stream = await openStream(`${service.url}/v1/runs/${run.id}/events`, key.headers);
  expect((await stream.rest()).at(-1)!.data).toMatchObject({ state: 'succeeded', ...told });
  await expect.poll(() => receiver.received).toHaveLength(1);
  expect(JSON.parse(receiver.received[0]!.body).data).toMatchObject(told);
});

test('a run of an earlier release, which has no outcome on record, was done', async ({ service, key }) => {
  const routineId = await createRoutine(key);
  const { id } = await runOnce(key, routineId);
  await changeRuns(service.deps.database, id, { outcome: null });
  expect((await key.get(`/v1/runs/${id}`)).data.outcome).toBe('done');
  const done = await key.get(`/v1/routines/${routineId}/runs?outcome=done`);
  expect(done.data).toMatchObject([{ id, outcome: 'done' }]);
});

test('a step that was recorded before its worker died is not asked for again', async () => {
  const service = await startService();
  try {
    const key = await (await signUp(service)).key();
    const reminded = await claimed(service, key);
    expect(await reminded.step(0, { text: REPORT })).toMatchObject({
      next: 'continue',
      nextIndex: 1,
    });
    expect(await reminded.step(0, {})).toMatchObject({
      next: 'continue',
      nextIndex: 1,
      toolCalls: [],
    });
    expect(await reminded.step(1, { call: finish('done') })).toEqual({
      next: 'ended',
      state: 'succeeded',
    });
    expect(await reminded.step(1, { call: finish('could_not') })).toEqual({
      next: 'ended',
      state: 'succeeded',
    });
    expect(reminded.calls()).toBe(2);
    const run = (await key.get(`/v1/runs/${reminded.runId}`)).data;
    expect(run).toMatchObject({
      state: 'succeeded',
      outcome: 'done',
      result: REPORT,
      stepCount: 2,
    });

    const failed = await claimed(service, key, {
      checks: [{ type: 'distinct_sources', atLeast: 1 }],
    });
    expect(await failed.step(0, { text: REPORT, call: finish('done') })).toEqual({
      next: 'ended',
      state: 'failed',
    });
    expect(await failed.step(0, {})).toEqual({ next: 'ended', state: 'failed' });
    expect(failed.calls()).toBe(1);
    const ledger = await service.deps.database.rows`select from usage_ledger where run_id = ${failed.runId}`;
    expect(ledger).toHaveLength(1);
  } finally {
    await service.close();
  }
});

/** Claims a run whose steps the test performs itself, as a worker's activities do. */
async function claimed(service: Service, key: ApiClient, fields: Record<string, unknown> = {}) {
  const { runId } = await claimedRun(service, key, { outcome: 'required', ...fields });
  let calls = 0;
  return {
    runId,
    calls: () => calls,
    step(index: number, said: { text?: string; call?: ReturnType<typeof finish> }) {
      const text = said.text ?? '';
      const caller: ModelCaller = {
        timeoutMs: 60_000,
        call() {
          calls += 1;
          const { name, arguments: input } = said.call ?? { name: '', arguments: null };
          const toolCalls = said.call === undefined ? [] : [{ callId: 'call_1', name, input, invalid: false }];
          const usage = {
            inputTokens: 100,
            cachedInputTokens: 0,
            outputTokens: 10,
            reasoningTokens: 0,
            estimated: false,
          };
          const finishReason = toolCalls.length === 0 ? 'stop' : 'tool-calls';
          const messages = [{ role: 'assistant' as const, content: text }];
          return Promise.resolve({ text, messages, toolCalls, finishReason, usage });
        },
        close: () => Promise.resolve(),
      };
      const { signal } = new AbortController();
      return performModelStep({ ...service.deps, caller }, { runId, index }, signal);
    },
  };
}
