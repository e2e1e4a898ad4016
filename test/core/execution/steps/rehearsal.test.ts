import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startHostileFixture, type HostileFixture } from '#test/core/integrations/tools/hostile-fixture.ts';
import { announceSlots, withdrawSlots } from '#core/execution/admission/index.ts';
import {
  marker,
  policyPath,
  requestsWith,
  routineWith,
  scriptCalls,
  toolSteps,
  type Json,
} from '#test/core/integrations/tools/support.ts';
import { sendNow } from '#test/core/delivery/notifications/fixture.ts';
import { createRoutine, runEnded, runOnce } from '#test/support/routines.ts';

let fixture: HostileFixture;
let { service, hostile, key } = {} as HostileFixture;

beforeAll(async () => {
  fixture = await startHostileFixture();
  ({ service, hostile, key } = fixture);
});
beforeEach(() => hostile.control.reset());
afterAll(() => fixture?.close());

const READS = { readOnlyHint: true };
const REHEARSE = { mode: 'rehearse' };

function rehearse(routineId: string): Promise<Json> {
  return runOnce(key, routineId, REHEARSE);
}

/** Makes a routine with confirmed tools of these definitions. */
async function withTools(tools: Json[], fields: Record<string, unknown> = {}) {
  hostile.control.tools = tools.map((tool) => ({ inputSchema: { type: 'object' }, ...tool }));
  const mark = marker();
  const names = tools.map(({ name }) => name);
  const connection = { url: hostile.url('honest') };
  const { routineId } = await routineWith(key, names, { connection, routine: { instructions: mark, ...fields } });
  return { routineId, mark };
}

/** Returns the last message that the model received. */
function toldOf(mark: string): string {
  return requestsWith(service, mark).at(-1).body.messages.at(-1).content;
}

test('a rehearsal reads, stages what may write, says so to the model, and is no run of its routine', async () => {
  const amount = { type: 'object', properties: { amount: { type: 'integer' } }, required: ['amount'] };
  const { routineId, mark } = await withTools(
    [
      { name: 'look', annotations: READS },
      { name: 'contradicts', annotations: { ...READS, destructiveHint: true } },
      { name: 'says_nothing' },
      { name: 'pay', annotations: { readOnlyHint: false }, inputSchema: amount },
    ],
    {
      webhookUrl: 'http://127.0.0.1:9999/hook',
      resultSchema: null,
      notifications: { mail: { on: ['failed'], to: 'owners' } },
    },
  );
  hostile.control.answer = ({ name }) => `real ${name}`;
  scriptCalls(service, mark, { name: 'look' }, { name: 'contradicts' }, { name: 'says_nothing' });
  scriptCalls(service, mark, { name: 'pay', arguments: { amount: 9 } }, { name: 'pay', arguments: { amount: 'much' } });
  const run = await rehearse(routineId);
  expect(run).toMatchObject({ trigger: 'rehearsal', state: 'succeeded', withheld: 'rehearsal', webhookDeliveries: [] });
  expect(hostile.control.calls.map(({ name }) => name)).toEqual(['look']);
  expect(run.wouldHaveDone).toMatchObject([
    { name: 'contradicts', connectionName: 'Tools', arguments: '{}' },
    { name: 'says_nothing' },
    { name: 'pay', arguments: '{"amount":9}' },
  ]);
  const steps = toolSteps(run);
  expect(steps.map(({ state, tool }: Json) => [state, tool.rehearsed])).toEqual([
    ['succeeded', null],
    ['succeeded', 'nothing'],
    ['succeeded', 'nothing'],
    ['succeeded', 'nothing'],
    ['failed', null],
  ]);
  expect(steps[4].errorMessage).toMatch(/arguments do not fit/);
  expect(run.briefing).toContain('Rehearsal: only tools that read are called.');
  const [, second, third] = requestsWith(service, mark);
  const told = second.body.messages.slice(-3).map(({ content }: Json) => content);
  expect(told[0]).toContain('real look');
  for (const each of told.slice(1))
    expect(each).toMatch(/^Rehearsed: the call was .* not made, and nothing has changed/);
  expect(third.body.messages.at(-2).content).toMatch(/^Rehearsed: /);

  // A rehearsal is no proof and no result, and the next run does not receive it.
  expect((await key.post(`/v1/routines/${routineId}/activate`)).body.error.code).toBe('successful_run_required');
  expect((await key.get('/v1/results')).data.map(({ runId }: Json) => runId)).not.toContain(run.id);
  const { data: recent } = await key.get('/v1/runs/recent');
  expect(recent.find((each: Json) => each.routineId === routineId).lastEnded).toBeNull();
  const { data: usage } = await key.get('/v1/usage');
  expect(usage.rehearsals).toMatchObject({ steps: run.stepCount, totalTokens: run.usage.totalTokens });
  const real = await runOnce(key, routineId);
  expect(real).toMatchObject({ trigger: 'manual', previousResultId: null, wouldHaveDone: [] });
  expect(real.briefing).toContain('Previous result: there is none.');
  expect((await key.post(`/v1/routines/${routineId}/activate`)).status).toBe(200);
  // A retry of a rehearsal rehearses again, and people get results of real runs only.
  await key.patch(`/v1/routines/${routineId}`, { resultsTo: { mail: 'owners' } });
  const { data: again } = await key.post(`/v1/runs/${run.id}/retry`);
  expect(await runEnded(key, again.id)).toMatchObject({ trigger: 'rehearsal', state: 'succeeded' });
  const { id: realId } = await runOnce(key, routineId);
  await sendNow(service);
  const mailsOf = async (id: string) => (await key.get(`/v1/runs/${id}`)).data.notifications;
  expect(await mailsOf(again.id)).toEqual([]);
  expect(await mailsOf(realId)).toMatchObject([{ kind: 'result' }]);
});

/** Schemas, each with its stand-in; undefined if there is none. */
const ODD: readonly (readonly [what: string, schema: Json, standIn: Json])[] = [
  [
    'is recursive',
    { type: 'object', properties: { id: { type: 'integer' }, next: { $ref: '#' } }, required: ['id', 'next'] },
    undefined,
  ],
  [
    'is recursive where it may end',
    { type: 'object', properties: { id: { type: 'integer', minimum: 5 }, next: { $ref: '#' } }, required: ['id'] },
    { id: 5, next: { id: 5, next: { id: 5 } } },
  ],
  ['has no type', { properties: { done: {}, at: { format: 'date' } }, required: ['done'] }, { done: null, at: null }],
  [
    'has an enum',
    { type: 'object', properties: { state: { enum: ['queued', 'sent'] }, kind: { const: 'mail' } } },
    { state: 'queued', kind: 'mail' },
  ],
  [
    'has a long example',
    { type: 'object', properties: { text: { type: 'string', examples: ['x'.repeat(50_000)] } } },
    { text: 'rehearsed' },
  ],
  [
    'asks for what no sample has',
    { type: 'object', properties: { id: { pattern: '^QX', type: 'string' } }, required: ['id'] },
    undefined,
  ],
];

test.each(ODD)(
  'a call whose output schema %s is answered by a value that fits it, or by none',
  async (_, outputSchema, standIn) => {
    const { routineId, mark } = await withTools([{ name: 'send', outputSchema }]);
    scriptCalls(service, mark, { name: 'send' });
    const run = await rehearse(routineId);
    expect(hostile.control.calls).toEqual([]);
    const [step] = toolSteps(run);
    const told = toldOf(mark);
    if (standIn === undefined) {
      expect(step.tool).toMatchObject({ rehearsed: 'nothing', result: null });
      expect(told).toMatch(/Nothing stands in for its answer/);
    } else {
      expect([step.errorMessage, step.tool.rehearsed]).toEqual([null, 'schema']);
      expect(JSON.parse(step.tool.result)).toEqual(standIn);
      expect(told).toMatch(/none of its values is real\.\nThe stand-in stands between the two marks (\S+)\./);
      expect(told).toContain(step.tool.result);
    }
  },
);

test('the last real answer of a tool stands in where no schema says more, and no rehearsal asks people', async () => {
  const { routineId, mark } = await withTools([{ name: 'send' }], { mayAsk: true });
  hostile.control.answer = () => 'sent as 17';
  scriptCalls(service, mark, { name: 'send' });
  await runOnce(key, routineId);
  scriptCalls(service, mark, { name: 'send' }, { name: 'ask', arguments: { question: 'Send it?' } });
  const run = await rehearse(routineId);
  expect(hostile.control.calls).toHaveLength(1);
  const [send, ask] = toolSteps(run);
  expect(send.tool).toMatchObject({ rehearsed: 'earlier_answer', result: 'sent as 17' });
  expect(ask.tool).toMatchObject({ rehearsed: 'nothing', name: 'ask' });
  expect(requestsWith(service, mark).at(-1).body.messages.at(-2).content).toMatch(
    /^Rehearsed: .* The answer to an earlier call stands in; it is not the answer to this one\./,
  );
  expect((await key.get(`/v1/questions?routineId=${routineId}`)).data).toEqual([]);
  // A stand-in is no real answer, so the next rehearsal has the same one.
  scriptCalls(service, mark, { name: 'send' });
  expect(toolSteps(await rehearse(routineId))[0].tool.result).toBe('sent as 17');
});

test('a held tool is staged, also one that reads: nothing waits for a person, and no rule is used up', async () => {
  const { routineId, mark } = await withTools([{ name: 'look', annotations: READS }, { name: 'send' }]);
  const { data: tools } = await key.get(`/v1/routines/${routineId}/tools`);
  for (const tool of tools) expect((await key.patch(policyPath(routineId, tool), { state: 'hold' })).status).toBe(200);
  const rules = tools.map((tool: Json) => `${policyPath(routineId, tool)}/rules`);
  const conditions = [{ pointer: '/to', equals: 'x' }];
  for (const each of rules) expect((await key.post(each, { conditions, maxUses: 1 })).status).toBe(201);
  const calls = ['look', 'send'].flatMap((name) => ['x', 'y'].map((to) => ({ name, arguments: { to } })));
  scriptCalls(service, mark, ...calls);
  const run = await rehearse(routineId);
  expect(toolSteps(run).map(({ tool }) => [tool.rehearsed, tool.action, tool.rule])).toEqual(
    calls.map(() => ['nothing', null, null]),
  );
  expect(hostile.control.calls).toEqual([]);
  expect((await key.get(`/v1/actions?routineId=${routineId}`)).data).toEqual([]);
  for (const each of rules) expect((await key.get(each)).data).toMatchObject([{ uses: 0 }]);
});

test('no rehearsal starts while a worker of an earlier release takes runs, which would make its calls', async () => {
  const { routineId } = await withTools([{ name: 'send' }]);
  const { database } = service.deps;
  await announceSlots(database, {
    workerId: 'host:1:earlier',
    taskQueue: service.config.TEMPORAL_TASK_QUEUE,
    slots: 1,
  });
  const refused = await key.post(`/v1/routines/${routineId}/run`, REHEARSE);
  expect([refused.status, refused.body.error.code]).toEqual([503, 'service_unavailable']);
  expect(refused.headers.get('retry-after')).toBe('15');
  await withdrawSlots(database, 'host:1:earlier');
  expect((await rehearse(routineId)).state).toBe('succeeded');
});

test('data of a rehearsal is compared with nothing later, and a mode that is unknown is refused', async () => {
  const mark = marker();
  const routineId = await createRoutine(key, { instructions: mark, resultSchema: { type: 'array' } });
  const says = (text: string) => service.gateway.control.script({ marker: mark, behaviour: { kind: 'text', text } });
  says('[1]');
  expect(await rehearse(routineId)).toMatchObject({ data: [1] });
  says('[2]');
  expect(await runOnce(key, routineId)).toMatchObject({ data: [2], changes: { against: null } });
  const { data: series } = await key.get(`/v1/routines/${routineId}/series`);
  expect(series.runs).toHaveLength(1);
  const refused = await key.post(`/v1/routines/${routineId}/run`, { mode: 'pretend' });
  expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_request']);
});

test('a question about a rehearsal makes no call either, and its stand-ins are no answers of the tool', async () => {
  const { routineId, mark } = await withTools([{ name: 'send' }]);
  const rehearsed = await rehearse(routineId);
  scriptCalls(service, mark, { name: 'send' });
  const { status, data } = await key.post(`/v1/runs/${rehearsed.id}/follow-up`, { message: 'Then send it.' });
  expect(status).toBe(202);
  const answer = await runEnded(key, data.id);
  expect(toolSteps(answer).map(({ tool }) => tool.rehearsed)).toEqual(['nothing']);
  expect(toldOf(mark)).toContain('not made, and nothing has changed');
  expect(hostile.control.calls).toEqual([]);
  scriptCalls(service, mark, { name: 'send' });
  expect(toolSteps(await rehearse(routineId))[0].tool.rehearsed).toBe('nothing');
});
