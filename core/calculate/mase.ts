import { CalculationError } from './calculation-error.ts';

export interface Mase {
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
