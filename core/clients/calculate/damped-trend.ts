import { meanOf } from './series.ts';

interface Parameters {
  readonly alpha: number;
  readonly beta: number;
  readonly phi: number;
  readonly level: number;
  readonly slope: number;
}

interface Smoothed {
  readonly level: number;
  readonly slope: number;
  /** Sum of the squared errors of forecasts one step ahead. */
  readonly sse: number;
}

/** Smooths a series by level and damped slope (Gardner and McKenzie, Management Science 31, 1985). */
export function smoothDamped(values: readonly number[], parameters: Parameters): Smoothed {
  const { alpha, beta, phi } = parameters;
  let { level, slope } = parameters;
  let sse = 0;
  for (const value of values) {
    const expected = level + phi * slope;
    const next = alpha * value + (1 - alpha) * expected;
    slope = beta * (next - level) + (1 - beta) * phi * slope;
    level = next;
    sse += (value - expected) ** 2;
  }
  return { level, slope, sse };
}

/** Returns the forecast for the given number of steps after the end of the series. */
export function trended(end: Smoothed, phi: number, steps: number): number {
  let [damping, sum] = [1, 0];
  for (let step = 0; step < steps; step += 1) {
    damping *= phi;
    sum += damping;
  }
  return end.level + sum * end.slope;
}

const ALPHAS = [0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95];
const BETAS = [0, 0.1, 0.25, 0.5];
const PHIS = [0.8, 0.9, 0.95, 0.98];
/** Number of values at the start of a series from which the first level and slope are computed. */
const START = 10;

/**
 * Picks the parameters with the least error one step ahead. A fixed grid of parameters bounds the work. The first level
 * and slope come from a line through the first ten values (Hyndman et al., International Journal of Forecasting 18,
 * 2002).
 */
export function fitDamped(values: readonly number[]): Parameters {
  const { level, slope } = lineThrough(values.slice(0, START));
  let best = { alpha: 0, beta: 0, phi: 0, level, slope, sse: Number.POSITIVE_INFINITY };
  for (const alpha of ALPHAS) {
    for (const beta of BETAS) {
      for (const phi of PHIS) {
        const { sse } = smoothDamped(values, { alpha, beta, phi, level, slope });
        if (sse < best.sse) best = { alpha, beta, phi, level, slope, sse };
      }
    }
  }
  return best;
}

function lineThrough(values: readonly number[]): { level: number; slope: number } {
  const middle = (values.length + 1) / 2;
  const mean = meanOf(values);
  const spread = values.reduce((total, _, index) => total + (index + 1 - middle) ** 2, 0);
  const rise = values.reduce((total, value, i) => total + (i + 1 - middle) * (value - mean), 0);
  const slope = rise / spread;
  return { level: mean - slope * middle, slope };
}

interface Adjusted {
  readonly adjusted: readonly number[];
  /** Adds the season back to a value. `place` is the index of the value in the series. */
  readonly restore: (value: number, place: number) => number;
}

/**
 * Removes the season by classical decomposition: by ratios where all values are above 0, else by differences (Hyndman
 * and Athanasopoulos, "Forecasting: Principles and Practice", section 3.4).
 */
export function seasonallyAdjusted(values: readonly number[], season: number): Adjusted {
  if (season === 1) return { adjusted: values, restore: (value) => value };
  const ratios = values.every((value) => value > 0);
  const indices = seasonalIndices(values, season, ratios);
  const indexAt = (place: number) => indices[place % season] ?? (ratios ? 1 : 0);
  return {
    adjusted: values.map((value, place) => (ratios ? value / indexAt(place) : value - indexAt(place))),
    restore: (value, place) => (ratios ? value * indexAt(place) : value + indexAt(place)),
  };
}

function seasonalIndices(values: readonly number[], season: number, ratios: boolean): number[] {
  const half = Math.floor(season / 2);
  const apart = values.flatMap((value, place) => {
    if (place < half || place >= values.length - half) return [];
    const around = values.slice(place - half, place + half + 1);
    // With an even season, both ends of the window are the same part of the season, so each counts half.
    const ends = season % 2 === 0 ? ((around[0] ?? 0) + (around.at(-1) ?? 0)) / 2 : 0;
    const middle = (meanOf(around) * around.length - ends) / season;
    return [{ part: place % season, value: ratios ? value / middle : value - middle }];
  });
  const means = Array.from({ length: season }, (_, part) =>
    meanOf(apart.filter((each) => each.part === part).map(({ value }) => value)),
  );
  const centre = meanOf(means);
  return means.map((mean) => (ratios ? mean / centre : mean - centre));
}
