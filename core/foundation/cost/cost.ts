import { Big } from 'big.js';
import type { CallUsage, Prices } from '#core/clients/gateway/index.ts';

/** Tokens of one model step. */
export type Usage = Omit<CallUsage, 'isDoubted'>;

export const NO_USAGE: Usage = {
  inputTokens: 0,
  cachedInputTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  estimated: false,
};

export type { Prices };

/** Returns the prices for a step with this many input tokens: long steps may have other prices. */
export function pricesAt(
  prices: Pick<Prices, 'input' | 'output' | 'above'>,
  inputTokens: number,
): Pick<Prices, 'input' | 'output'> & Partial<Pick<Prices, 'cachedInput'>> {
  const { above } = prices;
  return above !== undefined && inputTokens > above.inputTokens ? above : prices;
}

export function totalTokens(usage: Pick<Usage, 'inputTokens' | 'outputTokens'>): number {
  return usage.inputTokens + usage.outputTokens;
}

/**
 * Returns the step's cost in US dollars as a decimal string, or null when the directory has no price. For a sum of
 * steps, pass prices without `above`, the prices of long steps.
 */
export function costOf(usage: Omit<Usage, 'estimated'>, prices: Prices | null): string | null {
  if (prices === null) return null;
  const at = pricesAt(prices, usage.inputTokens);
  const cached = Math.min(usage.cachedInputTokens, usage.inputTokens);
  const input = new Big(at.input).times(usage.inputTokens - cached);
  const cachedInput = new Big(at.cachedInput ?? at.input).times(cached);
  const output = new Big(at.output).times(usage.outputTokens);
  return input.plus(cachedInput).plus(output).round(10).toFixed();
}
