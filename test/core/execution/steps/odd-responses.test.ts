import { jsonSchema, type ToolSet } from 'ai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ODD_CASES, type OddCase } from '#dev/fakes/odd-gateway/index.ts';
import { startGateway, type Gateway } from '#dev/fakes/gateway/server.ts';
import { ModelFailure, type ModelCaller } from '#core/execution/steps/index.ts';
import type { ModelResponse } from '#core/execution/steps/model-call.ts';
import { callerAt, callOf } from '#test/support/model-caller.ts';

let gateway: Gateway;
let caller: ModelCaller;

beforeAll(async () => {
  gateway = await startGateway({ port: 0, log: () => undefined });
  caller = callerAt(gateway.url);
  // The first response proves that this model gives finish reasons.
  await caller.call(callOf('fixture/writer-small'));
});
afterAll(async () => {
  await caller.close();
  await gateway.stop();
});

const MOST_ATTEMPTS = 5;
const CALCULATE = { calculate: { inputSchema: jsonSchema({ type: 'object' }) } } as ToolSet;

/** Asks an odd server, again as long as a failure may pass. */
async function ask({ answers, tools, modelId = 'fixture/writer-small' }: OddCase, marker: string) {
  for (const [index, answer] of answers.entries()) {
    const times = index === answers.length - 1 ? null : 1;
    gateway.control.script({ marker, times, behaviour: { kind: 'raw', ...answer } });
  }
  const call = callOf(modelId, { instructions: marker, tools: tools === true ? CALCULATE : {} });
  for (let attempts = 1; ; attempts += 1) {
    const made = await caller.call(call).catch((error: unknown) => error);
    if (!(made instanceof ModelFailure)) return { attempts, response: made as ModelResponse };
    if (!made.retryable || attempts === MOST_ATTEMPTS) return { attempts, failure: made };
  }
}

test('no two cases have one name', () => {
  expect(new Set(ODD_CASES.map(({ name }) => name)).size).toBe(ODD_CASES.length);
});

test.for(ODD_CASES.map((odd, index) => ({ ...odd, index })))('$name', async ({ index, ...odd }) => {
  const { expected } = odd;
  const { attempts, response, failure } = await ask(odd, `odd ${index};`);
  if (failure !== undefined) {
    expect({ attempts, reason: failure.reason }).toEqual({ attempts: expected.attempts, reason: expected.reason });
    expect(failure.told).toContain(expected.message ?? expected.words ?? '');
    return;
  }
  // The consequences of a response, such as a request for the outcome, are decided later.
  if (odd.answers.length === 1) expect(attempts).toBe(expected.attempts);
  if (expected.calls !== undefined) {
    expect(response.toolCalls.map(({ input }) => input)).toEqual(expected.calls.slice(0, response.toolCalls.length));
  } else if (typeof expected.result === 'string') expect(response.text).toBe(expected.result);
  if ('finish' in expected && expected.calls === undefined) expect(response.finishReason).toBe(expected.finish);
  expect(expected.reason === null || expected.reason === undefined || attempts === 1).toBe(true);
});
