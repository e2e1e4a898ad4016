import { z } from 'zod';
import { percentChange } from './change.ts';
import { finite, significant, shown } from './decimal.ts';
import { evaluateExpression } from './expression.ts';
import { listDiff } from './list-diff.ts';
import { mase } from './mase.ts';
import { pacing } from './pacing.ts';
import { operation } from './operation.ts';
import { sampleSize, twoProportions, wilson, type Interval } from './proportions.ts';
import { MAX_EXPRESSION } from './tokens.ts';

const exact = z.union([z.number(), z.string().max(40)]);
const count = z.number().int().min(0).max(1e12);
const confidence = z.number().min(0.5).max(0.999).optional().describe('Default 0.95.');
const series = z.array(z.number()).min(1).max(1_000);
const lines = z.array(z.string().max(500)).max(2_000);

/** Lists the operations of the tool by name. A field means the same in every operation that has it. */
export const operations = {
  arithmetic: operation(
    z.strictObject({
      expression: z
        .string()
        .max(MAX_EXPRESSION)
        .describe(
          'arithmetic: + - * / ^ ( ) %, and abs min max sum mean median round(x, places) sqrt ln exp.',
        ),
      variables: z
        .record(z.string().regex(/^[A-Za-z_]\w{0,40}$/), exact)
        .optional()
        .describe('arithmetic: values of the names in the expression.'),
    }),
    ({ expression, variables }) => {
      const found = evaluateExpression(expression, variables);
      return { value: shown(found.value), exact: found.exact };
    },
  ),
  wilson: operation(
    z.strictObject({ successes: count, total: count, confidence }),
    ({ successes, total, confidence }) => {
      const interval = rounded(wilson(successes, total, confidence));
      return { rate: significant(successes / total), ...interval };
    },
  ),
  two_proportions: operation(
    z.strictObject({
      successesA: count,
      totalA: count,
      successesB: count,
      totalB: count,
      confidence,
    }),
    (input) => {
      const found = twoProportions(
        { successes: input.successesA, total: input.totalA },
        { successes: input.successesB, total: input.totalB },
        input.confidence,
      );
      return {
        rateA: significant(found.rateA),
        rateB: significant(found.rateB),
        difference: significant(found.difference),
        ...rounded(found.interval),
        relative: found.relative === null ? null : significant(found.relative),
        z: found.z === null ? null : significant(found.z),
        pValue: found.pValue === null ? null : significant(found.pValue),
      };
    },
  ),
  sample_size: operation(
    z.strictObject({
      baseline: z.number().describe('sample_size: the rate today, such as 0.03.'),
      target: z.number().describe('sample_size: the rate worth finding, such as 0.033.'),
      power: z.number().min(0.5).max(0.99).optional().describe('Default 0.8.'),
      alpha: z.number().min(0.0001).max(0.5).optional().describe('Default 0.05.'),
      sides: z
        .union([z.literal(1), z.literal(2)])
        .optional()
        .describe('Default 2.'),
    }),
    ({ baseline, target, power = 0.8, alpha = 0.05, sides = 2 }) => {
      const perArm = Math.ceil(finite(sampleSize({ baseline, target, power, alpha, sides })));
      return { perArm, total: 2 * perArm, power, alpha, sides };
    },
  ),
  percent_change: operation(
    z.strictObject({
      before: exact,
      after: exact,
      counts: z
        .boolean()
        .optional()
        .describe('percent_change: true where both are counts of events; gives an interval.'),
      exposureBefore: z.number().optional().describe('percent_change: days, sessions or spend.'),
      exposureAfter: z.number().optional().describe('percent_change: days, sessions or spend.'),
      confidence,
    }),
    ({ counts = false, confidence = 0.95, ...input }) =>
      percentChange({ counts, confidence, ...input }),
  ),
  pacing: operation(
    z.strictObject({
      plan: exact,
      spent: exact,
      daysElapsed: z.number().int().min(1).max(1_000),
      daysTotal: z.number().int().min(1).max(1_000),
      elapsedShare: z
        .number()
        .optional()
        .describe('pacing: share of the weight elapsed, where days weigh differently; 0 to 1.'),
      dailyDeviation: z
        .number()
        .optional()
        .describe('pacing: standard deviation of daily spend around its level; gives a range.'),
    }),
    pacing,
  ),
  mase: operation(
    z.strictObject({
      training: series,
      actual: series,
      forecast: series,
      season: z
        .number()
        .int()
        .min(1)
        .max(400)
        .optional()
        .describe('mase: 12 for months. Default 1.'),
    }),
    ({ season = 1, ...input }) => {
      const { mase: value, mae, scale } = mase({ season, ...input });
      return { mase: significant(value), mae: significant(mae), scale: significant(scale) };
    },
  ),
  list_diff: operation(
    z.strictObject({ earlier: lines, later: lines, ignoreCase: z.boolean().optional() }),
    ({ earlier, later, ignoreCase = false }) => listDiff(earlier, later, ignoreCase),
  ),
} as const;

function rounded({ low, high }: Interval): Interval {
  return { low: significant(low), high: significant(high) };
}
