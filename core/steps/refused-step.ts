import type { ModelOption } from '#core/models/index.ts';
import {
  costOf,
  limitInWords,
  MIN_OUTPUT_TOKENS,
  overBudget,
  RAISED_BY,
  type PassedLimit,
  type ScopeLimits,
} from '#core/usage/index.ts';
import type { Db } from '#lib/database/index.ts';

/** A planned step: its model, its input, and the most that it may write. */
export interface WantedStep {
  readonly option: ModelOption;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Finds the limit that leaves too little for a step; undefined where none does any more. */
export async function limitInTheWay(
  db: Db,
  limits: readonly ScopeLimits[],
  { option: { prices }, inputTokens, outputTokens }: WantedStep,
): Promise<PassedLimit | undefined> {
  const output = Math.min(outputTokens, MIN_OUTPUT_TOKENS);
  const used = { inputTokens, cachedInputTokens: 0, outputTokens: output, reasoningTokens: 0 };
  const least = { tokens: inputTokens + output, costUsd: costOf(used, prices) ?? '0' };
  return (await overBudget(db, [limits], least)).get(0);
}

/** Names the cost limit that refuses a model without prices, and who may lift it; undefined where there is none. */
export function limitOnUnpriced(
  limits: readonly ScopeLimits[],
  { prices }: Pick<ModelOption, 'prices'>,
): string | undefined {
  const limit = limits.find(({ maxCostUsdPerMonth }) => maxCostUsdPerMonth !== null);
  if (prices !== null || limit === undefined) return undefined;
  const { costScope: scope, maxCostUsdPerMonth } = limit;
  const words = limitInWords({ scope, name: 'maxCostUsdPerMonth', max: maxCostUsdPerMonth ?? '' });
  return `The model has no prices, so ${words} refuses it. It can be lifted by ${RAISED_BY[scope]}.`;
}

/** Names the run's own token limit. */
export function runLimitInWords({ maxTotalTokens }: { maxTotalTokens: number | null }): string {
  return `The run reached limits.maxTotalTokens (${maxTotalTokens}), or too little of it was left for a step. It can be raised by ${RAISED_BY.routine}.`;
}
