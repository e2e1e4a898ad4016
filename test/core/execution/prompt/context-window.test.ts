import type { ModelMessage } from 'ai';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fitTranscript, type TranscriptStep } from '#core/execution/prompt/context-window.ts';
import { estimatedTokens } from '#core/clients/gateway/index.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';
import { startHostileFixture, type HostileFixture } from '#test/core/integrations/tools/hostile-fixture.ts';
import {
  marker,
  requestsWith,
  routineWith,
  scriptCalls,
  toolSteps,
  type Json,
} from '#test/core/integrations/tools/support.ts';

function asked(index: number): TranscriptStep {
  const call = { type: 'tool-call' as const, toolCallId: `c${index}`, toolName: 't', input: {} };
  return { index, messages: [{ role: 'assistant', content: [call] }] };
}

function answered(index: number, length: number): TranscriptStep {
  const output = { type: 'text' as const, value: 'x'.repeat(length) };
  const part = { type: 'tool-result' as const, toolCallId: `c${index - 1}`, toolName: 't', output };
  return { index, messages: [{ role: 'tool', content: [part] }] };
}

/** Makes a run whose calls returned results of these lengths. */
function transcriptOf(lengths: readonly number[]): TranscriptStep[] {
  return lengths.flatMap((length, n) => [asked(2 * n), answered(2 * n + 1, length)]);
}

function count(messages: readonly ModelMessage[]): number {
  return estimatedTokens(JSON.stringify(messages));
}

function fit(steps: readonly TranscriptStep[], contextTokens: number | null) {
  const option = { contextTokens, maxOutputTokens: null };
  const countInput = () => count(steps.flatMap(({ messages }) => messages));
  return fitTranscript(steps, option, { countInput, maxOutputTokens: null });
}

describe('the transcript of a run', () => {
  test('is sent as it is where it fits, and where the window is unknown', () => {
    const steps = transcriptOf([9_000, 9_000]);
    const whole = steps.flatMap(({ messages }) => messages);
    for (const contextTokens of [null, 10_000]) {
      expect(fit(steps, contextTokens)).toEqual({
        messages: whole,
        omitted: [],
        tooLong: undefined,
      });
    }
  });

  test('loses its oldest results first, until the next steps have room too', () => {
    const { messages, omitted, tooLong } = fit(transcriptOf([9_000, 9_000, 9_000, 600]), 10_000);
    expect(omitted.map(({ index }) => index)).toEqual([1, 3]);
    expect(tooLong).toBeUndefined();
    expect(JSON.stringify(messages[1])).toContain('[9000 characters were here');
    expect(count(messages)).toBeLessThanOrEqual(10_000 * (3 / 4) ** 2);
  });

  test('keeps the results that the model has not read yet, and is too long if those are', () => {
    const { omitted, tooLong } = fit(transcriptOf([600, 90_000]), 10_000);
    expect(omitted.map(({ index }) => index)).toEqual([1]);
    expect(tooLong).toMatchObject({ contextTokens: 10_000 });
    expect(tooLong?.tokens).toBeGreaterThan(90_000 / 5);
  });

  test('keeps its order, its calls and one result for each, with any results left out', () => {
    // Include lengths around 500 characters, from which a result is worth leaving out.
    const length = fc.oneof(fc.integer({ min: 0, max: 30_000 }), fc.integer({ min: 480, max: 520 }));
    const lengths = fc.array(length, { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(lengths, fc.integer({ min: 1_000, max: 40_000 }), (results, contextTokens) => {
        const steps = transcriptOf(results);
        const before = steps.flatMap(({ messages }) => messages);
        const { messages, omitted, tooLong } = fit(steps, contextTokens);
        const shape = (all: readonly Json[]) =>
          all.map(({ role, content }) => [role, content[0].type, content[0].toolCallId]);
        expect(shape(messages)).toEqual(shape(before));
        const gone = omitted.map(({ index }) => index);
        expect(gone).toEqual(gone.toSorted((a, b) => a - b));
        for (const [n, message] of messages.entries()) {
          if (!gone.includes(n)) expect(message).toEqual(before[n]);
        }
        expect(messages.at(-1)).toEqual(before.at(-1));
        if (omitted.length > 0) expect(count(messages)).toBeLessThan(count(before));
        // An accepted call fits the window, because the count is too careful by a factor of at most 5/3.
        if (tooLong === undefined) expect((count(messages) * 3) / 5).toBeLessThan(contextTokens);
      }),
    );
  });
});

describe('a run on a model with a small window', () => {
  let fixture: HostileFixture;

  beforeAll(async () => {
    fixture = await startHostileFixture();
  });
  afterAll(() => fixture.close());

  const model = { provider: 'gateway', connectionId: null, modelId: 'fixture/unpriced' };
  const result = (n: number) => `${n}: ${'word '.repeat(1_600)}`;

  /** Makes a run that looks up this many items, one after the other. */
  async function lookUp(times: number) {
    const { service, hostile, key } = fixture;
    const mark = marker();
    const { routineId } = await routineWith(key, ['lookup'], {
      connection: { url: hostile.url('honest') },
      routine: { instructions: mark, model },
      limits: { maxCallsPerRun: 20 },
    });
    let calls = 0;
    hostile.control.answer = () => result((calls += 1));
    for (let n = 0; n < times; n += 1) {
      scriptCalls(service, mark, { name: 'lookup', arguments: { query: String(n) } });
    }
    const run = await runOnce(key, routineId);
    const requests = requestsWith(service, mark).map(({ body }) => body.messages as Json[]);
    return { run, requests };
  }

  test('goes on when its results pass the window: the oldest make room, and its record says from when on', async () => {
    const { run, requests } = await lookUp(6);
    expect(run.state).toBe('succeeded');
    const steps = toolSteps(run);
    expect(steps).toHaveLength(6);
    const omitted = steps.map(({ tool }) => tool.omittedFromStep as number | null);
    expect(omitted[0]).toBeGreaterThan(2);
    expect(omitted.at(-1)).toBeNull();
    // The stored results are complete.
    for (const [n, { tool }] of steps.entries()) expect(tool.result).toBe(result(n + 1));

    for (const [at, messages] of requests.entries()) {
      const told = messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
      const index = at * 2;
      for (const [n, content] of told.entries()) {
        const from = omitted[n] ?? Infinity;
        if (index < from) expect(content).toContain(result(n + 1));
        else expect(content).toMatch(/^\[\d+ characters were here, .*left out to make room\.\]$/);
      }
      // The request fits 8,000 tokens of three bytes each, without the quarter for the response.
      expect(JSON.stringify(messages).length).toBeLessThan(8_000 * 3 * (3 / 4));
    }
  });

  test('ends as context_exceeded, without a model call, where nothing can make room', async () => {
    const { service, key } = fixture;
    const mark = marker();
    const instructions = `${mark} ${'word '.repeat(10_000)}`;
    const run = await runOnce(key, await createRoutine(key, { instructions, model }));
    expect(run).toMatchObject({
      state: 'failed',
      reason: 'context_exceeded',
      failureClass: 'routine',
      stepCount: 0,
    });
    expect(run.errorMessage).toMatch(/at least \d+ tokens, and the model takes 8000/);
    expect(requestsWith(service, mark)).toEqual([]);
  });
});
