import { expect } from 'vitest';
import { startReceiver } from '#test/lib/outbound/receiver.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { activeRoutine, createRoutine, runEnded, runOnce } from '#test/support/routines.ts';
import { startEverythingServer } from '#test/core/integrations/tools/everything-server.ts';
import { marker, requestsWith, routineWith, scriptCalls, type Json } from '#test/core/integrations/tools/support.ts';
import { changePolicies, fallDue } from '#test/support/given.ts';

const SOURCES = 'Seen at https://a.example/1 and https://b.example/2.';
const ECHO = { name: 'echo', arguments: { message: 'hello' } };

const test = serviceTest({ worker: true })
  .extend('tools', { scope: 'file' }, async ({ service: _service }, { onCleanup }) => {
    const server = await startEverythingServer();
    onCleanup(() => server.stop());
    return server;
  })
  /** Makes a run with this result, of a routine with these checks. */
  .extend(
    'runWith',
    ({ service, key }) =>
      async (text: string, checks: readonly object[], fields: Record<string, unknown> = {}) => {
        const mark = marker();
        service.gateway.control.script({ marker: mark, behaviour: { kind: 'text', text } });
        const routineId = await createRoutine(key, { instructions: mark, checks, ...fields });
        return { run: await runOnce(key, routineId), routineId, mark };
      },
  );

test.afterEach(({ service }) => service.gateway.control.reset());

test('a run that passes every check succeeds and shows the verdicts in order', async ({ key, runWith }) => {
  const { run, routineId } = await runWith(SOURCES, [
    { type: 'result_not_empty' },
    { type: 'result_matches', pattern: '^Seen at' },
    { type: 'result_does_not_match', pattern: '(?i:lorem ipsum)' },
    { type: 'distinct_sources', atLeast: 2 },
    { type: 'no_refused_calls' },
  ]);
  expect(run).toMatchObject({ state: 'succeeded', outcome: 'done', result: SOURCES, stepCount: 1 });
  expect(run.checks).toEqual([
    { type: 'result_not_empty', passed: true, detail: 'The result has a text.' },
    { type: 'result_matches', passed: true, detail: 'The pattern is in the result.' },
    { type: 'result_does_not_match', passed: true, detail: 'The pattern is not in the result.' },
    {
      type: 'distinct_sources',
      passed: true,
      detail: 'Distinct source addresses in the result: 2, at least 2 wanted.',
    },
    { type: 'no_refused_calls', passed: true, detail: 'Refused calls: 0.' },
  ]);
  expect((await key.post(`/v1/routines/${routineId}/activate`)).status).toBe(200);
});

test.for<[string, string, object]>([
  ['an empty result', ' \n ', { type: 'result_not_empty' }],
  ['a pattern that is missing', SOURCES, { type: 'result_matches', pattern: 'Findings$' }],
  ['a pattern that is there', SOURCES, { type: 'result_does_not_match', pattern: 'https?:' }],
  ['too few sources', SOURCES, { type: 'distinct_sources', atLeast: 3 }],
  ['a tool that was not called', SOURCES, { type: 'tool_succeeded', tool: 'search' }],
])(
  'a check stops a run with %s: it is named, kept with the result, and no proof for activation',
  async ([, text, check], { key, runWith }) => {
    const { run, routineId } = await runWith(text, [{ type: 'no_refused_calls' }, check]);
    const { type } = check as { type: string };
    expect(run).toMatchObject({
      state: 'failed',
      reason: 'check_failed',
      failureClass: 'routine',
      outcome: null,
      result: text,
      checks: [
        { type: 'no_refused_calls', passed: true },
        { type, passed: false },
      ],
    });
    expect(run.errorMessage).toBe(`Check 2 of 2, ${type}, failed: ${run.checks[1].detail}`);
    const refused = await key.post(`/v1/routines/${routineId}/activate`);
    expect([refused.status, refused.body.error.code]).toEqual([409, 'successful_run_required']);
  },
);

test('a quiet run is not failed for what only a report has, and not spared the work', async ({ service, key }) => {
  const quiet = { outcome: 'required', builtInTools: ['calculate'] };
  const finish = {
    name: 'finish',
    arguments: { outcome: 'nothing_to_report', summary: 'Nothing new this week.' },
  };
  const sum = { name: 'calculate', arguments: { operation: 'arithmetic', expression: '2 + 2' } };
  const report = [
    { type: 'result_not_empty' },
    { type: 'result_matches', pattern: '^## Findings' },
    { type: 'distinct_sources', atLeast: 2 },
  ];
  const runThrough = async (checks: readonly object[], ...turns: (readonly Json[])[]) => {
    const mark = marker();
    for (const calls of turns) scriptCalls(service, mark, ...calls);
    const routineId = await createRoutine(key, { instructions: mark, checks, ...quiet });
    return runOnce(key, routineId);
  };
  expect(await runThrough(report, [finish])).toMatchObject({
    state: 'succeeded',
    outcome: 'nothing_to_report',
    result: 'Nothing new this week.',
    checks: [
      { passed: true, detail: 'The result has a text.' },
      { passed: true, detail: 'Not asked of a run that has nothing to report.' },
      { passed: true, detail: 'Not asked of a run that has nothing to report.' },
    ],
  });
  // A run that claims a report has to pass all checks of the report.
  const claimed = { ...finish, arguments: { outcome: 'done', summary: 'All is reported.' } };
  expect(await runThrough(report, [claimed])).toMatchObject({
    reason: 'check_failed',
    errorMessage: expect.stringContaining('Check 2 of 3, result_matches'),
  });
  // A run that finishes early still fails the check of its work.
  const worked = [...report, { type: 'tool_succeeded', tool: 'calculate' }];
  expect(await runThrough(worked, [finish])).toMatchObject({
    state: 'failed',
    reason: 'check_failed',
    outcome: null,
    outcomeSummary: 'Nothing new this week.',
    errorMessage: expect.stringContaining('Check 4 of 4, tool_succeeded'),
  });
  expect(await runThrough(worked, [sum], [finish])).toMatchObject({
    state: 'succeeded',
    outcome: 'nothing_to_report',
    stepCount: 2,
  });
});

test('a check on tools counts the calls of one tool, by its name or its policy', async ({ service, key, tools }) => {
  const mark = marker();
  const { routineId, tools: found } = await routineWith(key, ['echo'], {
    connection: { url: tools.url },
    routine: { instructions: mark },
  });
  const { id: policyId } = found.find(({ name }: Json) => name === 'echo');
  const verdicts = async (...checks: object[]) => {
    await key.patch(`/v1/routines/${routineId}`, { checks });
    scriptCalls(service, mark, ECHO, ECHO, { name: 'unheard-of' });
    service.gateway.control.script({ marker: mark, behaviour: { kind: 'text', text: SOURCES } });
    const run = await runOnce(key, routineId);
    return [run.state, ...run.checks.map(({ passed }: Json) => passed)];
  };
  const tool = 'echo';
  const type = 'tool_succeeded';
  expect(await verdicts({ type, tool, atLeast: 2 }, { type, tool: policyId })).toEqual(['succeeded', true, true]);
  expect(await verdicts({ type, tool, atLeast: 3 }, { type, tool: 'unheard-of' })).toEqual(['failed', false, false]);
  expect(await verdicts({ type: 'no_refused_calls' })).toEqual(['failed', false]);
});

test('a call that its policy refuses is a refused call, a misplaced finish is none', async ({
  service,
  key,
  tools,
}) => {
  const mark = marker();
  const { routineId } = await routineWith(key, ['echo'], {
    connection: { url: tools.url },
    routine: { instructions: mark, outcome: 'required', checks: [{ type: 'no_refused_calls' }] },
    limits: { maxCallsPerRun: 1 },
  });
  const finish = { name: 'finish', arguments: { outcome: 'done', summary: 'All echoed.' } };
  scriptCalls(service, mark, ECHO, finish);
  scriptCalls(service, mark, finish);
  expect(await runOnce(key, routineId)).toMatchObject({ state: 'succeeded', stepCount: 2 });
  scriptCalls(service, mark, ECHO, ECHO);
  scriptCalls(service, mark, finish);
  expect(await runOnce(key, routineId)).toMatchObject({
    state: 'failed',
    reason: 'check_failed',
    outcomeSummary: 'All echoed.',
    checks: [{ type: 'no_refused_calls', passed: false, detail: 'Refused calls: 1.' }],
  });
});

test('a tool of a connection that is called finish is offered under another name', async ({ service, key, tools }) => {
  const mark = marker();
  const { routineId } = await routineWith(key, ['echo'], {
    connection: { url: tools.url },
    routine: { instructions: mark, outcome: 'required' },
  });
  const echo = { routineId, toolName: 'echo' };
  await changePolicies(service.deps.database, echo, { toolName: 'finish' });
  const { data } = await key.get(`/v1/routines/${routineId}`);
  const names = data.callableTools.map(({ name }: Json) => name);
  expect(names).toEqual(['finish', expect.stringMatching(/^finish_[0-9a-z]{26}$/)]);
  await runOnce(key, routineId);
  const [request] = requestsWith(service, mark);
  expect(request.body.tools.map((tool: Json) => tool.function.name)).toEqual(names);
});

test('runs that fail a check count towards the pause of their routine', async ({ service, key }) => {
  const mark = marker();
  const says = (text: string) => service.gateway.control.script({ marker: mark, behaviour: { kind: 'text', text } });
  says(SOURCES);
  const id = await activeRoutine(key, {
    instructions: mark,
    schedule: '@yearly',
    checks: [{ type: 'distinct_sources', atLeast: 2 }],
    pauseAfterFailures: 2,
  });
  for (let run = 0; run < 2; run += 1) {
    says('Nothing of it.');
    await fallDue(service, id);
    await service.deps.admission.admit();
    const [latest] = (await key.get(`/v1/routines/${id}/runs?trigger=schedule`)).data;
    expect(await runEnded(key, latest.id)).toMatchObject({ reason: 'check_failed' });
  }
  expect((await key.get(`/v1/routines/${id}`)).data).toMatchObject({
    state: 'paused',
    stateReason: 'paused after 2 failed runs in a row',
  });
});

test('the webhook of a run that a check stopped is run.failed, with the verdicts', async ({ runWith }) => {
  const receiver = await startReceiver((_request, response) => response.end());
  const checks = [{ type: 'distinct_sources', atLeast: 9 }];
  const { run } = await runWith(SOURCES, checks, { webhookUrl: receiver.origin });
  await expect.poll(() => receiver.received).toHaveLength(1);
  expect(JSON.parse(receiver.received[0]!.body)).toMatchObject({
    type: 'run.failed',
    data: { state: 'failed', reason: 'check_failed', outcome: null, checks: run.checks },
  });
});

test('checks that make no sense are refused with the path of each', async ({ key }) => {
  const id = await createRoutine(key);
  const refusals: [unknown, string][] = [
    [[{ type: 'result_matches', pattern: '(' }], 'checks[0].pattern: '],
    [
      [{ type: 'result_not_empty' }, { type: 'result_does_not_match', pattern: 'a(?=b)' }],
      'checks[1].pattern: the pattern "a(?=b)" cannot be matched in linear time',
    ],
    [[{ type: 'result_matches', pattern: '(?:a{900}){900}' }], 'checks[0].pattern: '],
    [[{ type: 'result_matches', pattern: 'x'.repeat(501) }], 'checks[0].pattern: '],
    [[{ type: 'result_matches' }], 'checks[0].pattern: '],
    [[{ type: 'distinct_sources', atLeast: 0 }], 'checks[0].atLeast: '],
    [[{ type: 'result_not_empty', pattern: 'a' }], 'checks[0]'],
    [[{ type: 'nice_to_read' }], 'checks[0].type: '],
    [Array.from({ length: 11 }, () => ({ type: 'result_not_empty' })), 'checks: '],
    ['none', 'checks: '],
  ];
  for (const [checks, path] of refusals) {
    const refused = await key.patch(`/v1/routines/${id}`, { checks });
    expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_request']);
    expect(refused.body.error.message).toContain(path);
  }
  const outcome = await key.patch(`/v1/routines/${id}`, { outcome: 'always' });
  expect([outcome.status, outcome.body.error.message]).toEqual([400, expect.stringContaining('outcome: ')]);
  expect((await key.get(`/v1/routines/${id}`)).data.checks).toEqual([]);
});
