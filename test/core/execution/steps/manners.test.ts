import { describe, expect } from 'vitest';
import { MANNERS, type MannerName } from '#dev/fakes/gateway/manners.ts';
import { FORM } from '#test/core/execution/results/world.ts';
import type { ApiClient } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { signUp } from '#test/support/people.ts';
import { FULL_SIZE } from '#test/support/properties.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';
import type { Service } from '#test/support/service.ts';
import type { Json } from '#test/core/integrations/tools/support.ts';

// Each server refuses the same requests as the real one, and the first run to meet a refusal learns from it.
const test = serviceTest({ worker: true, own: true });

/** Returns a key of an organization that has learned nothing yet. */
async function newKey(service: Service): Promise<ApiClient> {
  return (await signUp(service)).key();
}

const CALCULATE = { builtInTools: ['calculate'] };
const LIMITED = { limits: { maxOutputTokens: 900, maxTotalTokens: 100_000 } };

/** Routines, each with the expected end of its run. */
const CASES: readonly (readonly [string, Record<string, unknown>, Record<string, unknown>])[] = [
  ['a plain run', {}, {}],
  ['a run with limits', LIMITED, {}],
  ['a run that calls a tool', { ...CALCULATE, ...LIMITED }, { calls: 1 }],
  ['a run that states its outcome', { outcome: 'required' }, { outcome: 'done' }],
  ['a typed result', { ...FORM, ...LIMITED }, { typed: true }],
  ['a typed result beside tools', { ...FORM, ...CALCULATE }, { typed: true, calls: 1 }],
  [
    'a typed result beside tools with an outcome',
    { ...FORM, ...CALCULATE, outcome: 'required' },
    { typed: true, calls: 1 },
  ],
];

/** Servers that refuse every request with tools: vLLM without its parser for calls. No change of a request helps. */
const NO_TOOLS: ReadonlySet<MannerName> = new Set(['vllm-without-tools']);

/** Servers that refuse no more than others of the table do. They are tested at full size. */
const MODEST: ReadonlySet<string> = new Set(['fixture', 'gpt-5', 'mistral', 'ministral', 'ollama']);
const TESTED = (Object.keys(MANNERS) as MannerName[]).filter((manner) => FULL_SIZE || !MODEST.has(manner));

describe.for(TESTED)('a server in the manner of %s', (manner) => {
  const fitting = CASES.filter(([, fields]) => !NO_TOOLS.has(manner) || !offersTools(fields));

  test.runIf(FULL_SIZE).for(fitting)('carries out %s', async ([, fields, expected], { service }) => {
    service.gateway.control.manner(manner);
    const key = await newKey(service);
    const id = await createRoutine(key, { ...fields, instructions: 'Report what there is.' });
    const run = await runOnce(key, id);
    expect([run.state, run.reason, run.errorMessage]).toEqual(['succeeded', null, null]);
    expect(run.steps.filter(({ kind }: Json) => kind === 'tool')).toHaveLength(Number(expected['calls'] ?? 0));
    expect(run.data !== null).toBe(expected['typed'] === true);
    if (expected['outcome'] !== undefined) expect(run.outcome).toBe(expected['outcome']);
  });

  test('carries out what asks for most, and takes a second run at its first attempt, without a refusal', async ({
    service,
  }) => {
    service.gateway.control.manner(manner);
    const key = await newKey(service);
    const hasTools = !NO_TOOLS.has(manner);
    const fields = hasTools ? { ...FORM, ...CALCULATE, ...LIMITED, outcome: 'required' } : { ...FORM, ...LIMITED };
    const id = await createRoutine(key, { ...fields, instructions: 'Report what there is.' });
    const first = await runOnce(key, id);
    expect([first.state, first.reason, first.data === null]).toEqual(['succeeded', null, false]);
    expect(first.steps.filter(({ kind }: Json) => kind === 'tool')).toHaveLength(hasTools ? 1 : 0);
    service.gateway.control.reset();
    service.gateway.control.manner(manner);
    const run = await runOnce(key, id);
    expect(run.steps.map(({ attempt }: Json) => attempt)).toEqual(run.steps.map(() => 1));
    const calls = service.gateway.control.requests().filter(({ path }) => path.includes('chat'));
    expect(calls).toHaveLength(run.stepCount);
  });
});

function offersTools(fields: Record<string, unknown>): boolean {
  return 'builtInTools' in fields || 'outcome' in fields;
}
