import { z } from 'zod';
import { percentChange } from './change.ts';
import { CalculationError, finite, shown, significant } from './decimal.ts';
import { evaluateExpression, MAX_EXPRESSION } from './expression.ts';
import { pacing } from './pacing.ts';
import { sampleSize, twoProportions, wilson, type Interval } from './proportions.ts';

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

export type CalculateOutcome =
  | { readonly ok: true; readonly result: object }
  | { readonly ok: false; readonly error: string };

export interface Operation {
  /** JSON Schemas of its fields by name. */
  readonly properties: Readonly<Record<string, unknown>>;
  run(fields: object): CalculateOutcome;
}

const SHOWN_FAULTS = 5;

/** Ties a function to the schema of its input; errors come back in words. */
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

interface Mase {
  readonly mase: number;
  /** The forecast's mean absolute error. */
  readonly mae: number;
  /** The mean absolute error of the seasonal naive method inside the training data. */
  readonly scale: number;
}

/** Computes the mean absolute scaled error of Hyndman and Koehler (International Journal of Forecasting 22, 2006). */
function mase(input: {
  training: readonly number[];
  actual: readonly number[];
  forecast: readonly number[];
  season: number;
}): Mase {
  const { training, actual, forecast, season } = input;
  if (actual.length !== forecast.length) {
    throw new CalculationError(
      `actual has ${actual.length} values and forecast ${forecast.length}; they must be paired`,
    );
  }
  if (training.length <= season) {
    throw new CalculationError('training must be longer than one season');
  }
  const mae = mean(actual.map((value, index) => Math.abs(value - (forecast[index] ?? 0))));
  const scale = mean(
    training.slice(season).map((value, index) => Math.abs(value - (training[index] ?? 0))),
  );
  if (scale === 0) {
    throw new CalculationError('the training data never change, so there is no scale');
  }
  return { mase: mae / scale, mae, scale };
}

function mean(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0) / values.length;
}

interface ListDiff {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly kept: number;
  /** Lines that occur twice in the earlier and in the later list. */
  readonly duplicates: { readonly earlier: number; readonly later: number };
}

/** Compares two lists as sets of lines, white space at the ends and Unicode composition aside, in the lists' order. */
function listDiff(
  earlier: readonly string[],
  later: readonly string[],
  ignoreCase: boolean,
): ListDiff {
  const before = keyed(earlier, ignoreCase);
  const after = keyed(later, ignoreCase);
  return {
    added: [...after].filter(([key]) => !before.has(key)).map(([, line]) => line),
    removed: [...before].filter(([key]) => !after.has(key)).map(([, line]) => line),
    kept: [...after.keys()].filter((key) => before.has(key)).length,
    duplicates: { earlier: earlier.length - before.size, later: later.length - after.size },
  };
}

function keyed(lines: readonly string[], ignoreCase: boolean): Map<string, string> {
  const found = new Map<string, string>();
  for (const line of lines) {
    const trimmed = line.trim().normalize('NFC');
    const key = ignoreCase ? trimmed.toLowerCase() : trimmed;
    if (!found.has(key)) found.set(key, trimmed);
  }
  return found;
}
