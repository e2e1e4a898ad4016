import { Big } from 'big.js';
import type { ModelPrices } from '#core/models/index.ts';

/** Tokens of one model step. `cachedInputTokens` are part of the input, `reasoningTokens` part of the output. */
export interface Usage {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
}

export const NO_USAGE: Usage = {
  inputTokens: 0,
  cachedInputTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
};

export function totalTokens(usage: Usage): number {
  return usage.inputTokens + usage.outputTokens;
}

/** What a provider reports is a claim: a negative, fractional or missing count becomes a usable number. */
export function tokenCount(claimed: unknown): number {
  return typeof claimed === 'number' && Number.isFinite(claimed) && claimed > 0
    ? Math.min(Math.round(claimed), MAX_TOKENS)
    : 0;
}

const MAX_TOKENS = 1_000_000_000;

/** The step's cost in US dollars as a decimal string, or null where the directory quotes no price. */
export function costOf(usage: Usage, prices: ModelPrices | null): string | null {
  if (prices === null) return null;
  const cached = Math.min(usage.cachedInputTokens, usage.inputTokens);
  const input = new Big(prices.input).times(usage.inputTokens - cached);
  const cachedInput = new Big(prices.cachedInput ?? prices.input).times(cached);
  const output = new Big(prices.output).times(usage.outputTokens);
  return input.plus(cachedInput).plus(output).round(10).toFixed();
}
