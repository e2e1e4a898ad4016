import { CalculationError, significant } from './decimal.ts';
import { fitDamped, seasonallyAdjusted, smoothDamped, trended } from './damped-trend.ts';
import { meanOf, medianOf } from './series.ts';

interface SeriesForecast {
  readonly season: number;
  /** Number of past cut-offs from which each method was scored over the whole horizon. */
  readonly cutoffs: number;
  /** Methods, the best score first. Methods that need a longer series are left out. */
  readonly methods: readonly MethodForecast[];
}

interface MethodForecast {
  readonly method: string;
  /**
   * Mean error over the cut-offs, scaled by the error of the seasonal naive method inside the training data; null
   * without cut-offs.
   */
  readonly mase: number | null;
  readonly forecast: readonly number[];
  /**
   * Lower and upper end: the forecast minus and plus 1.28 root mean square errors of the method's backtest at the same
   * distance.
   */
  readonly low80: readonly number[] | null;
  readonly high80: readonly number[] | null;
}

/** The most values of a series: the damped trend tries its whole grid of parameters from every cut-off. */
const MAX_VALUES = 400;

type Method = (values: readonly number[], horizon: number, season: number) => number[] | null;

/**
 * Forecasts a series by four methods and scores each from past cut-offs, with only the data known then (Hyndman and
 * Athanasopoulos, "Forecasting: Principles and Practice", sections 5.2, 5.8, 5.10 and 8.2).
 */
export function forecastSeries(input: {
  values: readonly number[];
  horizon: number;
  season: number;
  cutoffs: number;
}): SeriesForecast {
  const { values, horizon, season } = input;
  const shortest = Math.max(2 * season, 6);
  if (values.length > MAX_VALUES) {
    throw new CalculationError(`values has ${values.length} numbers, more than ${MAX_VALUES}`);
  }
  if (values.length < shortest) {
    throw new CalculationError(
      `values has ${values.length} numbers; a forecast needs at least ${shortest}: two seasons, and no fewer than 6`,
    );
  }
  const last = values.length - horizon;
  const cutoffs = Math.max(0, Math.min(input.cutoffs, last - shortest + 1));
  const origins = Array.from({ length: cutoffs }, (_, index) => last - index);
  const methods = Object.entries(METHODS).flatMap(([method, make]) => {
    if (season === 1 && method.startsWith('seasonal')) return [];
    const forecast = make(values, horizon, season);
    return forecast === null ? [] : [scored(method, make, forecast, { ...input, origins })];
  });
  return {
    season,
    cutoffs,
    methods: methods.toSorted((a, b) => (a.mase ?? 0) - (b.mase ?? 0)),
  };
}

function scored(
  method: string,
  make: Method,
  forecast: readonly number[],
  from: {
    values: readonly number[];
    horizon: number;
    season: number;
    origins: readonly number[];
  },
): MethodForecast {
  const { values, horizon, season, origins } = from;
  const tests = origins.flatMap((origin) => {
    const training = values.slice(0, origin);
    const past = make(training, horizon, season);
    if (past === null) return [];
    const errors = past.map((value, index) => (values[origin + index] ?? 0) - value);
    return [{ errors, mase: meanOf(errors.map(Math.abs)) / scaleOf(training, season) }];
  });
  const rounded = (list: readonly number[]) => list.map(significant);
  if (tests.length === 0) {
    return { method, mase: null, forecast: rounded(forecast), low80: null, high80: null };
  }
  let widest = 0;
  const half = forecast.map((_, step) => {
    const squares = tests.map(({ errors }) => (errors[step] ?? 0) ** 2);
    // Never make a farther forecast more certain than a nearer one, even if the errors of few cut-offs suggest it.
    widest = Math.max(widest, 1.28 * Math.sqrt(meanOf(squares)));
    return widest;
  });
  return {
    method,
    mase: significant(meanOf(tests.map(({ mase: each }) => each))),
    forecast: rounded(forecast),
    low80: rounded(forecast.map((value, step) => value - (half[step] ?? 0))),
    high80: rounded(forecast.map((value, step) => value + (half[step] ?? 0))),
  };
}

const METHODS: Readonly<Record<string, Method>> = {
  naive: (values, horizon) => steps(horizon, () => values.at(-1) ?? 0),
  seasonal_naive: (values, horizon, season) => steps(horizon, (step) => lastSeason(values, season, step)),
  /** Multiplies the last season by the median ratio of the last six values to the values one season earlier. */
  seasonal_ratio(values, horizon, season) {
    if (values.some((value) => value <= 0)) return null;
    const grown = values.slice(season).map((value, index) => value / (values[index] ?? value));
    const ratio = medianOf(grown.slice(-6));
    return steps(horizon, (step) => lastSeason(values, season, step) * ratio ** (Math.floor(step / season) + 1));
  },
  damped_trend(values, horizon, season) {
    const { adjusted, restore } = seasonallyAdjusted(values, season);
    const parameters = fitDamped(adjusted);
    const end = smoothDamped(adjusted, parameters);
    return steps(horizon, (step) => restore(trended(end, parameters.phi, step + 1), values.length + step));
  },
};

function steps(horizon: number, valueAt: (step: number) => number): number[] {
  return Array.from({ length: horizon }, (_, step) => valueAt(step));
}

function lastSeason(values: readonly number[], season: number, step: number): number {
  return values[values.length - season + (step % season)] ?? 0;
}

interface Mase {
  readonly mase: number;
  /** The forecast's mean absolute error. */
  readonly mae: number;
  /** The mean absolute error of the seasonal naive method inside the training data. */
  readonly scale: number;
}

/** Computes the mean absolute scaled error of Hyndman and Koehler (International Journal of Forecasting 22, 2006). */
export function mase(input: {
  training: readonly number[];
  actual: readonly number[];
  forecast: readonly number[];
  season: number;
}): Mase {
  const { training, actual, forecast, season } = input;
  if (actual.length !== forecast.length) {
    throw new CalculationError(
      `actual has ${actual.length} values and forecast has ${forecast.length}; both need the same number of values`,
    );
  }
  if (training.length <= season) {
    throw new CalculationError('training must be longer than one season');
  }
  const mae = meanOf(actual.map((value, index) => Math.abs(value - (forecast[index] ?? 0))));
  const scale = scaleOf(training, season);
  return { mase: mae / scale, mae, scale };
}

function scaleOf(training: readonly number[], season: number): number {
  const scale = meanOf(training.slice(season).map((value, index) => Math.abs(value - (training[index] ?? 0))));
  if (scale === 0) {
    throw new CalculationError('the training data never change, so the error cannot be scaled');
  }
  return scale;
}
