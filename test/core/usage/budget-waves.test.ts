import fc from 'fast-check';
import { expect } from 'vitest';
import { performModelStep, type ModelCaller } from '#core/execution/steps/index.ts';
import { countInput } from '#core/clients/gateway/index.ts';
import { newId } from '#lib/ids.ts';
import { plantRoutines } from '#test/core/scheduling/planted.ts';
import { changeProjects, plantRun } from '#test/support/given.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { sized } from '#test/support/properties.ts';
import type { Service } from '#test/support/service.ts';

// The test counts time in calls: a round lasts as long as one call, and all calls under way return at its end.
const test = serviceTest({ own: true });
const MODEL = {
  id: 'large/model',
  context_length: 1_000_000,
  top_provider: { max_completion_tokens: 128_000 },
  pricing: { prompt: '0.000001', completion: '0.000001' },
};
const ROUTINES = 15;

const scenario = fc.record({
  steps: fc.integer({ min: 1, max: 3 }),
  outputTokens: fc.integer({ min: 100, max: 4_000 }),
  budget: fc.integer({ min: 400_000, max: 1_000_000 }),
});

test('routines of one minute whose budget suffices for all succeed within three times the longest, and pass no limit', async ({
  service,
}) => {
  service.gateway.control.script({
    target: 'models',
    behaviour: { kind: 'list', models: [MODEL] },
    times: null,
  });
  const { database } = service.deps;
  await fc.assert(
    fc.asyncProperty(scenario, async ({ steps, outputTokens, budget }) => {
      const routines = await plantRoutines(database, ROUTINES, { modelId: MODEL.id });
      const { projectId } = routines[0]!;
      const ids = routines.map(({ id }) => id);
      await changeProjects(database, projectId, { maxTokensPerDay: budget });
      const runs = await Promise.all(
        ids.map((id) => plantRun(database, id, { timeoutSeconds: 900, admittedAt: new Date() })),
      );
      const rounds = await carryOut(service, runs, { steps, outputTokens }, async () => {
        const held = await database.row<{
          tokens: number;
        }>`select day_tokens + reserved_tokens as tokens from usage_totals where scope_id = ${projectId}`;
        expect(held!.tokens).toBeLessThanOrEqual(budget);
      });
      const states = await database.rows<{
        state: string;
      }>`select state from runs where id = any(${runs})`;
      expect(states.map(({ state }) => state)).toEqual(Array(ROUTINES).fill('succeeded'));
      expect(rounds).toBeLessThanOrEqual(3 * steps);
    }),
    { numRuns: sized(20) },
  );
});

interface Script {
  readonly steps: number;
  readonly outputTokens: number;
}

/** Carries out runs like their workflows; returns the number of rounds. */
async function carryOut(
  service: Service,
  runIds: readonly string[],
  script: Script,
  eachRound: () => Promise<void>,
): Promise<number> {
  let respond: (() => void)[] = [];
  const settled: Promise<void>[] = [];
  let waiting: (() => Promise<void>)[] = [];

  /** Performs a step until its call is under way, it has to wait, or its run has ended. */
  function perform(runId: string, index: number, step: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const caller: ModelCaller = {
      timeoutMs: 60_000,
      close: () => Promise.resolve(),
      async call(input) {
        const isLast = step === script.steps;
        await new Promise<void>((go) => {
          respond.push(go);
          resolve();
        });
        return {
          text: isLast ? 'Done.' : '',
          messages: [{ role: 'assistant', content: 'Done.' }],
          toolCalls: isLast ? [] : [{ callId: newId('run'), name: 'none', input: {}, invalid: true }],
          finishReason: isLast ? 'stop' : 'tool-calls',
          usage: {
            inputTokens: countInput(input),
            cachedInputTokens: 0,
            outputTokens: Math.min(script.outputTokens, input.maxOutputTokens ?? Infinity),
            reasoningTokens: 0,
            estimated: false,
          },
        };
      },
    };
    settled.push(ask(runId, { index, step, caller }).then(resolve, reject));
    return promise;
  }

  async function ask(
    runId: string,
    { index, step, caller }: { index: number; step: number; caller: ModelCaller },
  ): Promise<void> {
    const { signal } = new AbortController();
    const outcome = await performModelStep({ ...service.deps, caller }, { runId, index }, signal);
    if (outcome.next === 'wait') waiting.push(() => perform(runId, index, step));
    else if (outcome.next === 'continue') await perform(runId, outcome.nextIndex, step + 1);
  }

  await Promise.all(runIds.map((runId) => perform(runId, 0, 1)));
  let rounds = 0;
  while (respond.length > 0) {
    rounds += 1;
    await eachRound();
    const returning = settled.splice(0);
    const calls = respond;
    respond = [];
    // Runs under way ask for their next steps before a waiting run asks.
    for (const go of calls) go();
    await Promise.all(returning);
    // A wait is short compared with a call, so each waiting run asks more than once in a round.
    for (let turn = 0; turn < 3; turn += 1) {
      const again = waiting;
      waiting = [];
      await Promise.all(again.map((ask) => ask()));
    }
  }
  return rounds;
}
