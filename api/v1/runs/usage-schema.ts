import { z } from 'zod';
import type { RunUsage } from '#core/runs/index.ts';

export const tokenCounts = {
  inputTokens: z.number().int(),
  cachedInputTokens: z.number().int().meta({ description: 'Part of the input.' }),
  outputTokens: z.number().int(),
  reasoningTokens: z.number().int().meta({ description: 'Part of the output.' }),
  totalTokens: z.number().int(),
};

export const usage = z
  .strictObject({
    ...tokenCounts,
    costUsd: z.string().nullable().meta({
      description: 'US dollars, a decimal string; null without a price.',
      example: '0.00042',
    }),
    estimated: z.boolean().meta({
      description:
        'Whether tokens were counted by us from the texts, because the provider stated none.',
    }),
  })
  .meta({ id: 'Usage' });

type Tokens = Pick<
  RunUsage,
  'inputTokens' | 'cachedInputTokens' | 'outputTokens' | 'reasoningTokens'
>;

export function presentTokens(row: Tokens) {
  return {
    inputTokens: row.inputTokens,
    cachedInputTokens: row.cachedInputTokens,
    outputTokens: row.outputTokens,
    reasoningTokens: row.reasoningTokens,
    totalTokens: row.inputTokens + row.outputTokens,
  };
}

export function presentUsage(row: RunUsage) {
  return {
    ...presentTokens(row),
    costUsd: row.costUsd,
    estimated: row.estimated,
  };
}
