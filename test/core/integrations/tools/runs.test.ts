import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiClient } from '#test/support/client.ts';
import { signUp } from '#test/support/people.ts';
import { runOnce } from '#test/support/routines.ts';
import { sharedService, type Service } from '#test/support/service.ts';
import { startEverythingServer, type EverythingServer } from './everything-server.ts';
import { connect, confirm, marker, requestsWith, routineWith, scriptCalls, toolSteps, type Json } from './support.ts';
import { changeConnections } from '#test/support/given.ts';

let service: Service;
let everything: EverythingServer;
let key: ApiClient;

beforeAll(async () => {
  [service, everything] = await Promise.all([sharedService({ worker: true }), startEverythingServer()]);
  key = await (await signUp(service)).key();
});
afterAll(async () => {
  await everything?.stop();
});

function connection() {
  return { url: everything.url, bearerToken: 'canary-credential-77' };
}

test('a run calls a confirmed tool and shows the call, its arguments and its result', async () => {
  const mark = marker();
  const { routineId, connectionId } = await routineWith(key, ['echo'], {
    connection: connection(),
    routine: { instructions: mark },
  });
  scriptCalls(service, mark, { name: 'echo', arguments: { message: 'hello tool' } });
  const run = await runOnce(key, routineId);
  expect(run).toMatchObject({ state: 'succeeded', stepCount: 2 });
  expect(run.steps.map(({ kind, state }: Json) => [kind, state])).toEqual([
    ['model', 'succeeded'],
    ['tool', 'succeeded'],
    ['model', 'succeeded'],
  ]);
  expect(run.steps[1].tool).toMatchObject({
    name: 'echo',
    toolName: 'echo',
    connectionId,
    connectionName: 'Tools',
    arguments: '{"message":"hello tool"}',
    argumentsLength: 24,
    isError: false,
    result: 'Echo: hello tool',
    resultLength: 16,
  });
  const [, second] = requestsWith(service, mark);
  const message = second.body.messages.at(-1);
  expect(message).toMatchObject({ role: 'tool', tool_call_id: expect.any(String) });
  const [, boundary] = /^<([\w-]{12})>$/m.exec(message.content)!;
  expect(message.content).toContain(`<${boundary}>\nEcho: hello tool\n</${boundary}>`);
});

test('only tools that were confirmed are offered', async () => {
  const mark = marker();
  const { routineId } = await routineWith(key, ['echo'], {
    connection: connection(),
    routine: { instructions: mark },
  });
  service.gateway.control.script({ marker: mark, behaviour: { kind: 'text', text: 'done' } });
  await runOnce(key, routineId);
  const [request] = requestsWith(service, mark);
  expect(request.body.tools.map((tool: Json) => tool.function.name)).toEqual(['echo']);
});

test('parallel calls, unknown names and broken arguments all get a result and the run goes on', async () => {
  const mark = marker();
  const { routineId } = await routineWith(key, ['echo', 'get-sum'], {
    connection: connection(),
    routine: { instructions: mark },
  });
  scriptCalls(
    service,
    mark,
    { name: 'echo', arguments: { message: 'one' } },
    { name: 'no-such-tool', arguments: {} },
    { name: 'get-sum', arguments: { a: 2, b: 3 } },
    { name: 'echo', arguments: '{"message": ' },
    { name: 'get-env', arguments: {} },
    { name: 'echo', arguments: { message: 5 } },
  );
  const run = await runOnce(key, routineId);
  expect(run.state).toBe('succeeded');
  const calls = toolSteps(run);
  expect(calls.map(({ tool, state }: Json) => [tool.name, state])).toEqual([
    ['echo', 'succeeded'],
    ['get-sum', 'succeeded'],
    ['echo', 'failed'],
    ['no-such-tool', 'failed'],
    ['echo', 'failed'],
    ['get-env', 'failed'],
  ]);
  expect(calls[1].tool.result).toContain('5');
  expect(calls[2].errorMessage).toContain('do not fit the tool: message must be string');
  const last = requestsWith(service, mark).at(-1);
  const asked = last.body.messages.flatMap((message: Json) => message.tool_calls ?? []);
  const answered = last.body.messages.filter(({ role }: Json) => role === 'tool');
  expect(asked).toHaveLength(6);
  expect(new Set(answered.map((message: Json) => message.tool_call_id))).toEqual(
    new Set(asked.map((call: Json) => call.id)),
  );
});

test('limits of a policy hold: calls per run, and arguments outside of its schema', async () => {
  const mark = marker();
  const { routineId } = await routineWith(key, ['echo'], {
    connection: connection(),
    routine: { instructions: mark },
    limits: {
      maxCallsPerRun: 2,
      argumentSchema: { properties: { message: { enum: ['a', 'b'] } } },
    },
  });
  scriptCalls(service, mark, ...['a', 'z', 'b', 'a'].map((message) => ({ name: 'echo', arguments: { message } })));
  const run = await runOnce(key, routineId);
  const calls = toolSteps(run);
  expect(calls.map(({ state }: Json) => state)).toEqual(['succeeded', 'failed', 'succeeded', 'failed']);
  expect(calls[1].errorMessage).toContain('outside of what was confirmed');
  expect(calls[3].errorMessage).toContain('may be called 2 times');
  expect(calls.map(({ tool }) => tool.arguments)).not.toContain(null);
});

test('an image is kept as a reference, and the run goes on with its description', async () => {
  const mark = marker();
  const { routineId } = await routineWith(key, ['get-tiny-image'], {
    connection: connection(),
    routine: { instructions: mark },
  });
  scriptCalls(service, mark, { name: 'get-tiny-image' });
  const run = await runOnce(key, routineId);
  expect(run.steps[1].tool.attachments).toEqual([
    {
      kind: 'image',
      mimeType: 'image/png',
      bytes: expect.any(Number),
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      uri: null,
    },
  ]);
});

test('a run whose connection is not ready fails before a token is spent', async () => {
  const mark = marker();
  const { routineId, connectionId } = await routineWith(key, ['echo'], {
    connection: connection(),
    routine: { instructions: mark },
  });
  await changeConnections(service.deps.database, connectionId, {
    state: 'needs_reauthorization',
    publicError: 'authorization_revoked',
  });
  const run = await runOnce(key, routineId);
  expect(run).toMatchObject({ state: 'failed', reason: 'blocked_connection', stepCount: 0 });
  const asked = requestsWith(service, mark);
  expect(asked).toEqual([]);
});

test('the history in Temporal holds the name of the tool and nothing of the call', async () => {
  const mark = marker();
  const { routineId } = await routineWith(key, ['echo'], {
    connection: connection(),
    routine: { instructions: mark },
  });
  scriptCalls(service, mark, { name: 'echo', arguments: { message: 'private-argument' } });
  const run = await runOnce(key, routineId);
  const handle = service.temporal.workflow.getHandle(run.id);
  const history = await handle.fetchHistory();
  const encoded = JSON.stringify(history);
  const payloads = [...encoded.matchAll(/"data":"([^"]*)"/g)].map(([, data]) =>
    Buffer.from(data!, 'base64').toString(),
  );
  const decoded = [encoded, ...payloads].join('\n');
  expect(decoded).toContain('tool echo');
  expect(decoded).not.toMatch(/private-argument|canary-credential/);
});

test('tools of the same name from two connections are told apart', async () => {
  const mark = marker();
  const { routineId } = await routineWith(key, ['echo'], {
    connection: connection(),
    routine: { instructions: mark },
  });
  const second = await connect(key, { name: 'Second', url: everything.url });
  const path = `/v1/routines/${routineId}/connections/${second}/discover`;
  const { tools } = (await key.post(path)).data;
  await confirm(key, { routineId, connectionId: second, tools }, ['echo']);
  service.gateway.control.script({ marker: mark, behaviour: { kind: 'text', text: 'done' } });
  await runOnce(key, routineId);
  const [request] = requestsWith(service, mark);
  const names: string[] = request.body.tools.map((tool: Json) => tool.function.name);
  expect(new Set(names).size).toBe(2);
  for (const name of names) expect(name).toMatch(/^echo_[a-z0-9]{26}$/);
});
