import { z } from 'zod';
import { percentChange } from './change.ts';
import { CalculationError, finite, shown, significant } from './decimal.ts';
import { evaluateExpression, MAX_EXPRESSION } from './expression.ts';
import { forecastSeries, mase } from './forecast.ts';
import { pacing } from './pacing.ts';
import { sampleSize, twoProportions, wilson, type Interval } from './proportions.ts';
import { summarizeSeries } from './series.ts';
import { splitByFactors, splitMixAndRate } from './split.ts';
import { diffLists, hashesOf, overlapOfTexts } from './text.ts';

const exact = z.union([z.number(), z.string().max(40)]);
const count = z.number().int().min(0).max(1e12);
const confidence = z.number().min(0.5).max(0.999).optional().describe('Default 0.95.');
const series = z.array(z.number()).min(1).max(1_000);
const values = series.describe('series, forecast: the numbers in order; forecast takes 400.');
const lines = z.array(z.string().max(500)).max(2_000);
const amount = z.number().min(0);
const name = z.string().max(80);
const text = z.string().max(20_000);
const season = z
  .number()
  .int()
  .min(1)
  .max(400)
  .optional()
  .describe('mase, forecast: periods of a season, 12 for months. Default 1.');

/** Lists the operations of the tool by name. A field means the same in every operation that has it. */
export const operations = {
  arithmetic: operation(
    z.strictObject({
      expression: z
        .string()
        .max(MAX_EXPRESSION)
        .describe('arithmetic: + - * / ^ ( ) %, and abs min max sum mean median round(x, places) sqrt ln exp.'),
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
    ({ counts = false, confidence = 0.95, ...input }) => percentChange({ counts, confidence, ...input }),
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
      season,
    }),
    (input) => {
      const { mase: value, mae, scale } = mase({ ...input, season: input.season ?? 1 });
      return { mase: significant(value), mae: significant(mae), scale: significant(scale) };
    },
  ),
  list_diff: operation(
    z.strictObject({ earlier: lines, later: lines, ignoreCase: z.boolean().optional() }),
    ({ earlier, later, ignoreCase = false }) => diffLists(earlier, later, ignoreCase),
  ),
  series: operation(
    z.strictObject({
      values,
      quantiles: z.array(z.number().min(0).max(1)).max(10).optional().describe('series: 0 to 1.'),
      weight: z
        .number()
        .min(0)
        .max(1)
        .optional()
        .describe('series: weight of the newest value in a moving average (EWMA), such as 0.2.'),
      start: z.number().optional().describe('series: the EWMA at the start. Default the mean.'),
      compare: z.number().optional().describe('series: a value to hold against the others.'),
    }),
    summarizeSeries,
  ),
  forecast: operation(
    z.strictObject({
      values,
      horizon: z.number().int().min(1).max(60).describe('forecast: periods ahead.'),
      season,
      cutoffs: z.number().int().min(0).max(12).optional().describe('forecast: past starts to score from. Default 6.'),
    }),
    ({ cutoffs = 6, ...input }) => forecastSeries({ ...input, cutoffs, season: input.season ?? 1 }),
  ),
  log_split: operation(
    z.strictObject({
      factors: z
        .array(
          z.strictObject({
            name,
            before: z.number(),
            after: z.number(),
            divides: z.boolean().optional().describe('true where the product is divided by it.'),
          }),
        )
        .min(2)
        .max(10)
        .describe('log_split: what is multiplied, such as sessions and rate.'),
    }),
    ({ factors }) => splitByFactors(factors),
  ),
  mix_rate: operation(
    z.strictObject({
      segments: z
        .array(
          z.strictObject({
            name,
            eventsBefore: amount,
            totalBefore: amount,
            eventsAfter: amount,
            totalAfter: amount,
          }),
        )
        .min(2)
        .max(50)
        .describe('mix_rate: all segments of the whole, with events and totals of both periods.'),
    }),
    ({ segments }) => splitMixAndRate(segments),
  ),
  text_overlap: operation(
    z.strictObject({
      textA: text,
      textB: text,
      words: z.number().int().min(1).max(20).optional().describe('text_overlap: words of a run. Default 5.'),
    }),
    ({ textA, textB, words = 5 }) => overlapOfTexts(textA, textB, words),
  ),
  hash: operation(
    z.strictObject({ texts: z.array(text).min(1).max(50).describe('hash: what to fingerprint.') }),
    ({ texts }) => ({ hashes: hashesOf(texts) }),
  ),
} as const;

function rounded({ low, high }: Interval): Interval {
  return { low: significant(low), high: significant(high) };
}

export type CalculateOutcome =
  | { readonly ok: true; readonly result: object }
  | { readonly ok: false; readonly error: string };

export interface Operation {
  /** JSON Schemas of the operation's fields, by name. */
  readonly properties: Readonly<Record<string, unknown>>;
  run(fields: object): CalculateOutcome;
}

const SHOWN_FAULTS = 5;

/** Makes an operation from a function and the schema of its input. Errors are returned as text. */
function operation<Schema extends z.ZodObject>(
  schema: Schema,
  compute: (input: z.output<Schema>) => object,
): Operation {
  return {
    properties: z.toJSONSchema(schema).properties ?? {},
    run(fields) {
      const parsed = schema.safeParse(fields);
      if (!parsed.success) {
        const faults = parsed.error.issues.map(({ path, message }) =>
          path.length === 0 ? message : `${path.join('.')}: ${message}`,
        );
        return { ok: false, error: faults.slice(0, SHOWN_FAULTS).join('; ') };
      }
      try {
        return { ok: true, result: compute(parsed.data) };
      } catch (error) {
        if (error instanceof CalculationError) return { ok: false, error: error.message };
        throw error;
      }
    },
  };
}
