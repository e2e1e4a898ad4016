import { afterAll, beforeEach, expect } from 'vitest';
import { startHostileTools, type HostileTools } from '#dev/fakes/hostile-tools/server.ts';
import type { ToolClaim } from '#dev/fakes/hostile-tools/control.ts';
import type { Service } from '#test/support/service.ts';
import type { ApiClient } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { runEnded } from '#test/support/routines.ts';
import {
  confirm,
  discovered,
  marker,
  policyPath,
  scriptCalls,
  toolSteps,
  type Discovered,
} from '#test/core/integrations/tools/support.ts';
import { activate, claimNext, scheduledRun } from './support.ts';

const hostile: HostileTools = await startHostileTools();
afterAll(() => hostile.stop());
beforeEach(() => hostile.control.reset());

const test = serviceTest({ worker: true });

interface Gated extends Discovered {
  readonly policyId: string;
}

/** Makes a routine whose gate calls `lookup`. Its model calls no tool by default. */
async function gated(
  { service, key }: { service: Service; key: ApiClient },
  gate: Record<string, unknown> = {},
  options: { fields?: object; limits?: object; connection?: object } = {},
): Promise<Gated> {
  const mark = marker();
  service.gateway.control.script({
    marker: mark,
    times: null,
    behaviour: { kind: 'text', text: 'Done.' },
  });
  const connection = { url: hostile.url('honest'), ...options.connection };
  const found = await discovered(key, connection, { name: mark, instructions: mark });
  await confirm(key, found, ['lookup'], { ...options.limits });
  const policyId = found.tools.find(({ name }) => name === 'lookup')!.id;
  const tool = { policyId, arguments: { query: 'open tickets' } };
  const { status, body } = await key.patch(`/v1/routines/${found.routineId}`, {
    gate: { tool, ...gate },
    instructions: `${mark} {{gate.value}}`,
    ...options.fields,
  });
  expect([status, body.error]).toEqual([200, undefined]);
  return { ...found, policyId };
}

test('a gate calls its tool with its arguments, and its model only when the result has changed', async ({
  service,
  key,
}) => {
  hostile.control.answer = () => '{"tickets":[1],"took":3}';
  const { routineId, policyId } = await gated({ service, key }, { pointers: ['/tickets'] });
  await activate(key, routineId);
  hostile.control.answer = () => '{"tickets":[1],"took":9}';
  const skipped = await scheduledRun(service, key, routineId);
  expect(skipped).toMatchObject({
    state: 'skipped',
    reason: 'no_change',
    steps: [],
    gate: {
      asked: { tool: { policyId, name: 'lookup' }, url: null, status: null, sent: true },
      changed: false,
      valuePreview: '[1]',
    },
  });
  hostile.control.answer = () => '{"tickets":[1,2]}';
  expect(await scheduledRun(service, key, routineId)).toMatchObject({
    state: 'succeeded',
    gate: { reason: 'changed', valuePreview: '[1,2]' },
  });
  expect(hostile.control.calls.map(({ name, arguments: args }) => [name, args])).toEqual([
    ['lookup', { query: 'open tickets' }],
    ['lookup', { query: 'open tickets' }],
    ['lookup', { query: 'open tickets' }],
  ]);
});

test('structured content is what the pointers look into', async ({ service, key }) => {
  hostile.control.answer = () => ({
    content: [{ type: 'text', text: 'Two tickets are open.' }],
    structuredContent: { tickets: [1, 2] },
  });
  const { routineId } = await gated({ service, key }, { pointers: ['/tickets'] });
  expect((await activate(key, routineId)).gate).toMatchObject({ valuePreview: '[1,2]' });
});

test.for<[string, () => object | string, string, string]>([
  [
    'answers with an error',
    () => ({ isError: true, content: [{ type: 'text', text: 'SECRET-WORDS' }] }),
    'tool_failed',
    'The tool answered with an error.',
  ],
  ['sends more than 64 kB', () => 'x'.repeat(70_000), 'too_large', 'more than 65536 bytes'],
  ['sends no JSON', () => 'plain', 'not_json', 'is not JSON'],
])('a gate whose tool %s wakes the model and says so', async ([, answer, reason, error], { service, key }) => {
  hostile.control.answer = () => '{"a":1}';
  const { routineId } = await gated({ service, key }, { pointers: ['/a'] });
  await activate(key, routineId);
  hostile.control.answer = answer;
  const run = await scheduledRun(service, key, routineId);
  expect(run).toMatchObject({
    state: 'succeeded',
    gate: { failed: true, reason, error: expect.stringContaining(error), changed: null },
  });
  expect(run.briefing).toContain(run.gate.error);
  expect(JSON.stringify(run)).not.toContain('SECRET-WORDS');
});

test('a gate whose tool the server has changed wakes the model without calling it, and the routine goes back to draft', async ({
  service,
  key,
}) => {
  const { routineId } = await gated({ service, key });
  await activate(key, routineId);
  const [lookup, ...others] = hostile.control.tools as [ToolClaim, ...ToolClaim[]];
  hostile.control.tools = [{ ...lookup, description: 'Now does something else.' }, ...others];
  const run = await scheduledRun(service, key, routineId);
  expect(run).toMatchObject({
    state: 'succeeded',
    gate: {
      asked: { sent: false },
      failed: true,
      reason: 'tool_refused',
      error: expect.stringContaining('server has changed this tool since it was confirmed'),
    },
  });
  expect(hostile.control.calls).toHaveLength(1);
  expect((await key.get(`/v1/routines/${routineId}`)).data).toMatchObject({
    state: 'draft',
    stateReason: expect.stringContaining('lookup'),
  });
});

test('a gate whose tool was disabled is not called', async ({ service, key }) => {
  const { routineId, policyId } = await gated({ service, key });
  await key.patch(policyPath(routineId, { id: policyId }), { state: 'disabled' });
  const run = await activate(key, routineId);
  expect(run.gate).toMatchObject({
    failed: true,
    reason: 'tool_refused',
    error: 'No person has confirmed that this tool may be used without being asked.',
  });
  expect(hostile.control.calls).toEqual([]);
});

test('a tool that no longer says that it reads is not called by a gate, although it is confirmed again', async ({
  service,
  key,
}) => {
  const found = await gated({ service, key });
  const { routineId, connectionId, policyId } = found;
  const [lookup, ...others] = hostile.control.tools as [ToolClaim, ...ToolClaim[]];
  hostile.control.tools = [{ ...lookup, annotations: { idempotentHint: true } }, ...others];
  await key.post(`/v1/routines/${routineId}/connections/${connectionId}/discover`);
  await confirm(key, found, ['lookup']);
  const run = await activate(key, routineId);
  expect(run.gate).toMatchObject({
    asked: { tool: { policyId, name: 'lookup' }, sent: false },
    reason: 'tool_refused',
    error: expect.stringContaining('readOnlyHint'),
  });
  expect(hostile.control.calls).toEqual([]);
});

test('the call of a gate counts towards the calls of its tool in the run', async ({ service, key }) => {
  const mark = marker();
  const { routineId } = await gated(
    { service, key },
    {},
    { fields: { instructions: mark }, limits: { maxCallsPerRun: 2 } },
  );
  const ask = { name: 'lookup', arguments: { query: 'more' } };
  scriptCalls(service, mark, ask, ask);
  const run = await activate(key, routineId);
  expect(toolSteps(run).map(({ state }) => state)).toEqual(['succeeded', 'failed']);
  expect(toolSteps(run)[1].errorMessage).toContain('may be called 2 times in a run');
  expect(hostile.control.calls).toHaveLength(2);
});

test('a credential that a tool repeats is no part of the value', async ({ service, key }) => {
  const token = 'canary-credential-4477';
  hostile.control.credential = token;
  hostile.control.answer = () => `{"echo":"${token}"}`;
  const { routineId } = await gated(
    { service, key },
    {},
    { connection: { url: hostile.url('guarded'), bearerToken: token } },
  );
  const run = await activate(key, routineId);
  expect(run.gate.valuePreview).toBe('{"echo":"[redacted]"}');
  expect(JSON.stringify(service.gateway.control.requests())).not.toContain(token);
});

test('a tool that is called when its run is cancelled is given up', async ({ service, key }) => {
  const { routineId } = await gated({ service, key });
  await activate(key, routineId);
  const held = Promise.withResolvers<void>();
  hostile.control.held = held.promise;
  const runId = await claimNext(service, key, routineId);
  await expect.poll(() => hostile.control.calls).toHaveLength(2);
  await key.post(`/v1/runs/${runId}/cancel`);
  expect(await runEnded(key, runId)).toMatchObject({ state: 'cancelled' });
  held.resolve();
});
