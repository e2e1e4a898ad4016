import { z } from 'zod';
import {
  ESTIMATE_BASES,
  ESTIMATE_PRICINGS,
  type Amount,
  type RunEstimate,
} from '#core/forecast/index.ts';

export const amount = z
  .strictObject({
    tokens: z.number().int().nullable().meta({
      description: 'Input and output; null where nothing bounds them.',
      example: 5_200,
    }),
    costUsd: z.string().nullable().meta({
      description: 'US dollars, a decimal string; null for a model without prices.',
      example: '0.0124',
    }),
  })
  .meta({ id: 'ForecastAmount' });

export const percentiles = { p50: amount, p95: amount };

/** Estimate of one run. */
export const estimate = z
  .strictObject({
    basis: z.enum(ESTIMATE_BASES).meta({
      description:
        '`version_runs`: the latest runs of the present version that called their model; `proof_run`: the only one so far; `limits`: the most that the limits of the routine and its model allow.',
    }),
    sampleSize: z.number().int().meta({ description: 'The runs that it is taken from.' }),
    pricing: z.enum(ESTIMATE_PRICINGS).meta({
      description:
        '`directory`: the prices of the model directory now; `recorded`: what the runs cost at their time, as the directory does not say; `unpriced`: the model has no prices, so there are tokens only.',
    }),
    ...percentiles,
  })
  .meta({ id: 'RunEstimate' });

export function presentAmount({ tokens, costUsd }: Amount) {
  return { tokens, costUsd };
}

export function presentEstimate({ basis, sampleSize, pricing, p50, p95 }: RunEstimate) {
  return { basis, sampleSize, pricing, p50: presentAmount(p50), p95: presentAmount(p95) };
}
