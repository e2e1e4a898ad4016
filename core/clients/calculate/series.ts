import { CalculationError, significant } from './decimal.ts';

interface SeriesSummary {
  readonly n: number;
  readonly sum: number;
  readonly mean: number;
  /** Standard deviation of a sample, over n - 1; null for a single value. */
  readonly sd: number | null;
  readonly min: number;
  readonly median: number;
  readonly max: number;
  /** Median absolute deviation from the median, not scaled. */
  readonly mad: number;
  readonly quantiles: readonly { readonly share: number; readonly value: number }[];
  /** The last value of the moving average; null without a weight. */
  readonly ewma: number | null;
  /** Distance of the compared value from the series; null if no value is compared or the series never changes. */
  readonly z: number | null;
  readonly modifiedZ: number | null;
}

/**
 * Describes a list of numbers. Quantiles are those of R, NumPy and spreadsheets (type 7 of Hyndman and Fan, The
 * American Statistician 50, 1996); the modified z is 0.6745 (x - median) / MAD and the moving average weight·x + (1 -
 * weight)·last, both as in the NIST/SEMATECH e-Handbook, sections 1.3.5.17 and 6.3.2.4.
 */
export function summarizeSeries(input: {
  values: readonly number[];
  quantiles?: readonly number[] | undefined;
  weight?: number | undefined;
  /** The moving average before the first value, by default the mean. */
  start?: number | undefined;
  compare?: number | undefined;
}): SeriesSummary {
  const { values, quantiles = [], weight, compare } = input;
  const sorted = values.toSorted((a, b) => a - b);
  const mean = meanOf(values);
  const sd = values.length < 2 ? null : deviation(values, mean);
  const median = quantileOf(sorted, 0.5);
  const mad = medianOf(values.map((value) => Math.abs(value - median)));
  return {
    n: values.length,
    sum: significant(mean * values.length),
    mean: significant(mean),
    sd: sd === null ? null : significant(sd),
    min: significant(quantileOf(sorted, 0)),
    median: significant(median),
    max: significant(quantileOf(sorted, 1)),
    mad: significant(mad),
    quantiles: quantiles.map((share) => ({ share, value: significant(quantileOf(sorted, share)) })),
    ewma: weight === undefined ? null : significant(ewma(values, weight, input.start ?? mean)),
    z: compare === undefined || !sd ? null : significant((compare - mean) / sd),
    modifiedZ: compare === undefined || mad === 0 ? null : significant((0.6745 * (compare - median)) / mad),
  };
}

/** Computes the mean. A second pass corrects the rounding error of the first. */
export function meanOf(values: readonly number[]): number {
  const first = values.reduce((total, value) => total + value, 0) / values.length;
  return first + values.reduce((total, value) => total + (value - first), 0) / values.length;
}

export function medianOf(values: readonly number[]): number {
  return quantileOf(
    values.toSorted((a, b) => a - b),
    0.5,
  );
}

function deviation(values: readonly number[], mean: number): number {
  const squares = values.reduce((total, value) => total + (value - mean) ** 2, 0);
  return Math.sqrt(squares / (values.length - 1));
}

function quantileOf(sorted: readonly number[], share: number): number {
  const place = (sorted.length - 1) * share;
  const low = sorted[Math.floor(place)];
  const high = sorted[Math.ceil(place)];
  if (low === undefined || high === undefined) throw new CalculationError('there are no values');
  return low + (high - low) * (place - Math.floor(place));
}

function ewma(values: readonly number[], weight: number, start: number): number {
  return values.reduce((last, value) => weight * value + (1 - weight) * last, start);
}
