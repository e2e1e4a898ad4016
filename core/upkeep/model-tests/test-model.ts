import type { Core } from '#core/core.ts';
import { assertWithinLimit, type ThrottleRule } from '#core/foundation/rate-limits/index.ts';
import { countInput, type ModelAbilities, type ServedModel } from '#core/clients/gateway/index.ts';
import type { AbilityStore, ModelOption } from '#core/models/directory/index.ts';
import { ModelFailure, type ModelCall, type ModelCaller, type ModelResponse } from '#core/execution/steps/index.ts';
import { spendBesideRuns } from '#core/usage/index.ts';
import { costOf, NO_USAGE, type Usage } from '#core/foundation/cost/index.ts';
import { CHECKS_TO_MAKE, MAX_CHECK_OUTPUT, type ModelCheck } from './checks.ts';

export interface MadeCheck {
  readonly kind: ModelCheck['kind'];
  readonly state: 'passed' | 'failed' | 'not_made';
  /** Result in words; for a refusal, the provider's own words. Null if the check was not made. */
  readonly words: string | null;
  readonly durationMs: number | null;
}

/** The most that a test can use. */
export interface TestEstimate {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Cost in US dollars as a decimal string; null for a model without prices. */
  readonly costUsd: string | null;
}

export interface ModelTest {
  readonly estimate: TestEstimate;
  readonly checks: readonly MadeCheck[];
  /** Usage of the test; null when no check was made. */
  readonly usage: Usage | null;
  readonly costUsd: string | null;
}

/** A model that a source serves. Only such a model can be tested. */
export type TestedModel = ModelOption & { readonly served: ServedModel };

export interface ModelTestDeps extends Pick<Core, 'database' | 'maxCostUsdPerOrganization' | 'metrics'> {
  readonly caller: ModelCaller;
  readonly abilities: AbilityStore;
}

const TESTS: ThrottleRule = { name: 'model-test', limit: 30, windowSeconds: 60 * 60 };

/** Time for one check, in which a server may have to load its model first. */
const CHECK_MS = 60_000;

export function estimateTest(option: TestedModel): ModelTest {
  return {
    estimate: estimateOf(option),
    checks: CHECKS_TO_MAKE.map(({ kind }) => notMade(kind)),
    usage: null,
    costUsd: null,
  };
}

/**
 * Tests a model: one short text, one tool call, one schema. It tests earlier lessons of the organization about the
 * model again, since the server may have changed, and remembers the findings. Its usage counts towards the budgets.
 * @throws {AppError} `rate_limited`, `allowance_exceeded` when a budget leaves too little
 */
export async function testModel(
  deps: ModelTestDeps,
  option: TestedModel,
  where: { readonly organizationId: string; readonly projectId: string },
): Promise<ModelTest> {
  const { database, abilities } = deps;
  const charge = { ...where, modelId: option.modelId, purpose: 'model-tests' } as const;
  await assertWithinLimit(
    database,
    TESTS,
    where.organizationId,
    `The organization has made ${TESTS.limit} model tests in this hour, the most allowed.`,
  );
  const estimate = estimateOf(option);
  const { value: checks, ...spent } = await spendBesideRuns(
    deps,
    charge,
    { prices: option.prices, most: estimate },
    async (used) => {
      const results: MadeCheck[] = [];
      for (const check of CHECKS_TO_MAKE) {
        const made = await make(deps, { option, check, organizationId: where.organizationId });
        results.push(made.result);
        if (made.usage !== NO_USAGE) used(made.usage);
        if (Object.keys(made.shows).length > 0) {
          await abilities.learn(option.served, where.organizationId, made.shows);
        }
        if (made.isOver) break;
      }
      return results;
    },
  );
  const rest = CHECKS_TO_MAKE.slice(checks.length).map(({ kind }) => notMade(kind));
  return { estimate, checks: [...checks, ...rest], ...spent };
}

interface Made {
  readonly result: MadeCheck;
  readonly usage: Usage;
  readonly shows: ModelAbilities;
  /** True when no later check can succeed. */
  readonly isOver: boolean;
}

async function make(
  { caller }: ModelTestDeps,
  { option, check, organizationId }: { option: TestedModel; check: ModelCheck; organizationId: string },
): Promise<Made> {
  // Only the first check sets earlier lessons aside, to test them again. The later checks use what this test has found.
  const afresh = check.kind === 'text';
  const call = { ...callOf(option, check, AbortSignal.timeout(CHECK_MS)), organizationId, afresh };
  const started = performance.now();
  const result = (passed: boolean, words: string): MadeCheck => ({
    kind: check.kind,
    state: passed ? 'passed' : 'failed',
    words,
    durationMs: Math.round(performance.now() - started),
  });
  let response: ModelResponse;
  try {
    response = await caller.call(call);
  } catch (error) {
    if (call.signal.aborted) {
      // Count the input, which the server has received and may bill.
      const usage = { ...NO_USAGE, inputTokens: countInput(call), estimated: true };
      const words = `The model gave no answer in ${CHECK_MS / 1_000} s.`;
      return { result: result(false, words), usage, shows: {}, isOver: true };
    }
    if (!(error instanceof ModelFailure)) throw error;
    const isOver = check.kind === 'text' || error.reason !== 'model_refused';
    const shows = error.reason === 'model_refused' ? check.refused(error.told) : {};
    const usage = error.cutOff ? { ...NO_USAGE, inputTokens: countInput(call), estimated: true } : NO_USAGE;
    return { result: result(false, error.told), usage, shows, isOver };
  }
  const { passed, words, shows } = check.judge(response);
  return { result: result(passed, words), usage: response.usage, shows, isOver: false };
}

function callOf(
  { modelId, served, contextTokens }: TestedModel,
  check: ModelCheck,
  signal: AbortSignal,
): Omit<ModelCall, 'organizationId'> {
  return { modelId, served, contextTokens, ...check.request, maxOutputTokens: MAX_CHECK_OUTPUT, signal };
}

function estimateOf(option: TestedModel): TestEstimate {
  const idle = new AbortController().signal;
  const inputs = CHECKS_TO_MAKE.map((check) => countInput(callOf(option, check, idle)));
  const inputTokens = inputs.reduce((total, count) => total + count, 0);
  const outputTokens = CHECKS_TO_MAKE.length * MAX_CHECK_OUTPUT;
  const costUsd = costOf({ ...NO_USAGE, inputTokens, outputTokens }, option.prices);
  return { inputTokens, outputTokens, costUsd };
}

function notMade(kind: ModelCheck['kind']): MadeCheck {
  return { kind, state: 'not_made', words: null, durationMs: null };
}
