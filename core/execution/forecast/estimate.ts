import { Big } from 'big.js';
import type { ModelOption, ModelReference, ProjectModels } from '#core/models/directory/index.ts';
import type { Limits } from '#core/authoring/definition/index.ts';
import { costOf, NO_USAGE, totalTokens } from '#core/foundation/cost/index.ts';
import type { Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { usageOfVersion, type UsedByRun } from './version-usage.ts';

export const ESTIMATE_BASES = ['version_runs', 'proof_run', 'limits'] as const;

/** Sources of prices: the present model directory, or the costs of the runs if the directory has no prices. */
export const ESTIMATE_PRICINGS = ['directory', 'recorded', 'unpriced'] as const;

export interface Amount {
  /** Tokens of input and output; null if nothing limits them. */
  readonly tokens: number | null;
  /** Cost in US dollars as a decimal string; null without prices. */
  readonly costUsd: string | null;
}

/** Estimated usage and cost of one run of a routine's present version. */
export interface RunEstimate {
  readonly basis: (typeof ESTIMATE_BASES)[number];
  /** Number of runs in the sample. */
  readonly sampleSize: number;
  readonly pricing: (typeof ESTIMATE_PRICINGS)[number];
  readonly p50: Amount;
  readonly p95: Amount;
}

export interface EstimatedRoutine {
  readonly id: string;
  readonly projectId: string;
  readonly revision: number;
  readonly model: ModelReference;
  readonly limits: Limits;
  /** The latest manual run that succeeded with the present version. */
  readonly proofRunId: string | null;
}

/**
 * Estimates a run from the usage of the version's own runs at today's prices. With the proof run alone, the estimate is
 * the usage of that run; without any run, the most that the routine's limits allow.
 */
export async function estimateRun(
  { database, models }: { readonly database: Db; readonly models: ProjectModels },
  routine: EstimatedRoutine,
): Promise<RunEstimate> {
  const { id: routineId, projectId, revision, limits, proofRunId } = routine;
  const option = await findQuoted(models, routine);
  // Ignore the prices of long prompts: a run is a sum of steps, and few steps are long enough for these prices.
  const prices = option?.prices ? { ...option.prices, above: undefined } : null;
  const sample = await usageOfVersion(database, { projectId, routineId, revision });
  const pricing = pricingOf(option, sample);
  if (sample.length === 0) {
    const most = mostOfRun(limits, option);
    return { basis: 'limits', sampleSize: 0, pricing, p50: most, p95: most };
  }
  const costs = sample
    .map((run) => (pricing === 'recorded' ? run.costUsd : costOf(run, prices)))
    .filter((cost) => cost !== null);
  const isProof = sample.length === 1 && sample[0]?.id === proofRunId;
  const at = (share: number): Amount => ({
    tokens: percentile(sample.map(totalTokens), share, (a, b) => a - b) ?? null,
    costUsd: percentile(costs, share, (a, b) => new Big(a).cmp(b)) ?? null,
  });
  return {
    basis: isProof ? 'proof_run' : 'version_runs',
    sampleSize: sample.length,
    pricing,
    p50: at(0.5),
    p95: at(0.95),
  };
}

/** Finds the model; undefined when it is gone or the directory is away. An estimate is made even then. */
export async function findQuoted(
  models: ProjectModels,
  { projectId, model }: Pick<EstimatedRoutine, 'projectId' | 'model'>,
): Promise<ModelOption | undefined> {
  try {
    return await models.find(projectId, model);
  } catch (error) {
    if (error instanceof AppError && error.code === 'models_unavailable') return undefined;
    throw error;
  }
}

function pricingOf(option: ModelOption | undefined, sample: readonly UsedByRun[]): RunEstimate['pricing'] {
  if (option !== undefined) return option.prices === null ? 'unpriced' : 'directory';
  return sample.some(({ costUsd }) => costUsd !== null) ? 'recorded' : 'unpriced';
}

/** Returns the most that a run can use; unlimited without `maxTotalTokens` on a model whose context is unknown. */
export function mostOfRun(
  { maxSteps, maxTotalTokens, maxOutputTokens }: Limits,
  option: ModelOption | undefined,
): Amount {
  const context = option?.contextTokens ?? null;
  const bounds = [maxTotalTokens, context === null ? null : maxSteps * context];
  const known = bounds.filter((bound) => bound !== null);
  if (known.length === 0) return { tokens: null, costUsd: null };
  const tokens = Math.min(...known);
  const prices = option?.prices ?? null;
  if (prices === null) return { tokens, costUsd: null };
  const written = maxOutputTokens ?? option?.maxOutputTokens ?? tokens;
  const dearOutput = new Big(prices.output).gte(prices.input);
  const outputTokens = dearOutput ? Math.min(maxSteps * written, tokens) : 0;
  const usage = { ...NO_USAGE, inputTokens: tokens - outputTokens, outputTokens };
  return { tokens, costUsd: costOf(usage, prices) };
}

/** Finds a percentile by the nearest rank, so that the result is one of the values. */
function percentile<T>(values: readonly T[], share: number, compare: (a: T, b: T) => number): T | undefined {
  return values.toSorted(compare)[Math.ceil(share * values.length) - 1];
}
