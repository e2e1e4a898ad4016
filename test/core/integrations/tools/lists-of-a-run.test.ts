import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createToolSessions, fixedCredentials } from '#core/clients/mcp/index.ts';
import { forgetSessions, type Scenario } from '#dev/fakes/hostile-tools/scenarios.ts';
import { createRoutine, runEnded, runOnce } from '#test/support/routines.ts';
import { startHostileFixture, type HostileFixture } from './hostile-fixture.ts';
import { confirm, marker, routineWith, scriptCalls, toolSteps, type Discovered, type Json } from './support.ts';

let fixture: HostileFixture;
let { service, hostile, key } = {} as HostileFixture;

beforeAll(async () => {
  fixture = await startHostileFixture();
  ({ service, hostile, key } = fixture);
});
beforeEach(() => hostile.control.reset());
afterEach(() => vi.restoreAllMocks());
afterAll(() => fixture?.close());

const LOOKUP = { name: 'lookup', arguments: { query: 'x' } };
const SEND = { name: 'send_message', arguments: { to: 'someone' } };

function count(method: string): number {
  return hostile.control.seen.filter((seen) => seen === method).length;
}

/** Changes the server's definitions from now on. */
function changeTools(): void {
  hostile.control.tools = hostile.control.tools.map((tool) => ({
    ...tool,
    description: 'Does something else.',
  }));
}

const NAMES = ['lookup', 'send_message'];

async function routineAt(scenario: Scenario): Promise<Discovered & { mark: string }> {
  const mark = marker();
  const found = await routineWith(key, NAMES, {
    connection: { url: hostile.url(scenario) },
    routine: { instructions: mark },
  });
  hostile.control.seen.length = 0;
  return { ...found, mark };
}

test.each<Scenario>(['honest', 'stateful', 'modern'])(
  'a run lists the tools of a server once for all its calls, and the next run lists them again: %s',
  async (scenario) => {
    const { routineId, mark } = await routineAt(scenario);
    for (const runs of [1, 2]) {
      scriptCalls(service, mark, LOOKUP, SEND, LOOKUP, SEND, LOOKUP);
      const steps = toolSteps(await runOnce(key, routineId));
      expect(steps.map(({ state }) => state)).toEqual(Array(5).fill('succeeded'));
      expect([count('tools/list'), count('tools/call')]).toEqual([runs, 5 * runs]);
    }
  },
);

test('a server that says in a run that its tools have changed is asked again before the next call', async () => {
  const { routineId, mark } = await routineAt('announcing');
  scriptCalls(service, mark, LOOKUP, LOOKUP);
  expect(toolSteps(await runOnce(key, routineId))).toMatchObject([{ state: 'succeeded' }, { state: 'succeeded' }]);
  expect([count('tools/list'), count('tools/call')]).toEqual([2, 2]);
});

test('a tool that turns out to have changed in one run is not called by another that listed it before', async () => {
  const first = await routineAt('honest');
  const second = { routineId: '', mark: marker() };
  second.routineId = await createRoutine(key, { instructions: second.mark });
  const { data: found } = await key.post(`/v1/routines/${second.routineId}/connections/${first.connectionId}/discover`);
  await confirm(key, { ...first, routineId: second.routineId, tools: found.tools }, NAMES);
  const held = Promise.withResolvers<void>();
  hostile.control.held = held.promise;
  scriptCalls(service, first.mark, LOOKUP, SEND);
  const { data: started } = await key.post(`/v1/routines/${first.routineId}/run`);
  await expect.poll(() => hostile.control.calls.length).toBe(1);

  changeTools();
  scriptCalls(service, second.mark, LOOKUP);
  expect(toolSteps(await runOnce(key, second.routineId))).toMatchObject([
    { state: 'failed', errorMessage: expect.stringContaining('has changed this tool') },
  ]);
  held.resolve();
  expect(toolSteps(await runEnded(key, started.id))).toMatchObject([
    { tool: { toolName: 'lookup' }, state: 'succeeded' },
    { state: 'failed', errorMessage: expect.stringContaining('has changed this tool') },
  ]);
  expect(hostile.control.calls.map(({ name }) => name)).toEqual(['lookup']);
});

test.each<[string, () => void, Json[]]>([
  ['the same tools', () => undefined, [{ state: 'succeeded' }, { state: 'succeeded' }]],
  [
    'other tools',
    changeTools,
    [{ state: 'succeeded' }, { state: 'failed', errorMessage: expect.stringContaining('has changed this tool') }],
  ],
])(
  'a session that is lost in the middle of a run costs no call, and is listed again: %s',
  async (_what, change, steps) => {
    const { routineId, mark } = await routineAt('stateful');
    hostile.control.answer = () => {
      forgetSessions();
      change();
      return 'ok';
    };
    // This call must not be repeated. The server refuses the call's session, so the call was not carried out.
    scriptCalls(service, mark, SEND, SEND);
    expect(toolSteps(await runOnce(key, routineId))).toMatchObject(steps);
    expect([count('initialize'), count('tools/list')]).toEqual([2, 2]);
  },
);

test('what a run has listed is believed for five minutes, and for less where the server says so', async () => {
  const sessions = createToolSessions(service.deps);
  const server = { url: hostile.url('honest'), credentials: fixedCredentials({}) };
  const limits = { signal: new AbortController().signal, timeoutMs: 10_000 };
  const lease = (holder: string) => sessions.lease({ server, version: 'con_1 1', holder }, limits);
  const pass = async (ms: number) => {
    const now = performance.now() + ms;
    vi.spyOn(performance, 'now').mockReturnValue(now);
    // The cache reads its clock once per millisecond.
    await sleep(5);
  };
  const list = new Map([['lookup', 'hash']]);
  try {
    const [first, second] = [await lease('run_1'), await lease('run_2')];
    first.remember(list, Number.POSITIVE_INFINITY);
    second.remember(list, 1_000);
    await pass(2_000);
    expect([first.recall('lookup'), second.recall('lookup')]).toEqual(['hash', undefined]);
    await pass(5 * 60_000);
    expect(first.recall('lookup')).toBeUndefined();

    first.remember(list, Number.POSITIVE_INFINITY);
    expect(first.recall('lookup')).toBe('hash');
    // The first session is in use, so this run gets another one.
    await lease('run_1');
    expect(first.recall('lookup')).toBeUndefined();
  } finally {
    await sessions.close();
  }
});
