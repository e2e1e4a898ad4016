import type { Service } from './service.ts';
import type { Stack } from './stack.ts';

/** The benchmarks of a file by name. Each file in `bench/` exports its own as default. */
export type Benchmarks = Readonly<Record<string, Benchmark>>;

export interface Benchmark {
  /** One sentence that names the measured thing and its baseline. */
  readonly about: string;
  run(bench: Bench): Promise<Figure[]>;
}

export interface Bench {
  readonly stack: Stack;
  /** True for the full size, which takes much longer. */
  readonly long: boolean;
  /** The service that benchmarks share, started on first use. Each benchmark leaves it as it was. */
  readonly service: () => Promise<Service>;
  /** Keeps a remark beside the figures, such as a query plan or the parts of a number. */
  readonly note: (text: string) => void;
}

/** The result of several rounds of one measurement. */
export interface Sample {
  readonly median: number;
  readonly low: number;
  readonly high: number;
  readonly count: number;
}

export interface Target {
  readonly of: 'ratio' | 'value';
  readonly atLeast?: number;
  readonly atMost?: number;
}

/** A line of the table: a measurement, and its baseline if it has one. */
export interface Figure {
  readonly what: string;
  readonly unit: string;
  readonly value: Sample;
  readonly baseline?: Sample;
  /** Value over baseline in each round, so that a busy machine cancels out. */
  readonly ratio?: Sample;
  readonly target?: Target;
}

export type Verdict = 'met' | 'missed' | '';

function sampleOf(values: readonly number[]): Sample {
  const sorted = values.toSorted((a, b) => a - b);
  return {
    median: quantile(sorted, 0.5),
    low: sorted[0] ?? Number.NaN,
    high: sorted.at(-1) ?? Number.NaN,
    count: sorted.length,
  };
}

/** Returns a quantile of sorted values, by nearest rank; NaN without values. */
export function quantile(sorted: readonly number[], part: number): number {
  if (part === 0.5 && sorted.length % 2 === 0 && sorted.length > 0) {
    const upper = sorted.length / 2;
    return ((sorted[upper - 1] ?? Number.NaN) + (sorted[upper] ?? Number.NaN)) / 2;
  }
  return sorted[Math.max(Math.ceil(sorted.length * part) - 1, 0)] ?? Number.NaN;
}

/** Makes a figure of rounds that measured value and baseline one after the other. Its target limits the ratio. */
export function compared(
  what: string,
  unit: string,
  rounds: { readonly value: readonly number[]; readonly baseline: readonly number[] },
  target?: Omit<Target, 'of'> & Partial<Pick<Target, 'of'>>,
): Figure {
  return {
    what,
    unit,
    value: sampleOf(rounds.value),
    baseline: sampleOf(rounds.baseline),
    ratio: sampleOf(rounds.value.map((value, round) => value / (rounds.baseline[round] ?? Number.NaN))),
    ...(target === undefined ? {} : { target: { of: 'ratio', ...target } }),
  };
}

/** Makes a figure that has no baseline. */
export function plain(what: string, unit: string, values: readonly number[], target?: Omit<Target, 'of'>): Figure {
  const figure = { what, unit, value: sampleOf(values) };
  return target === undefined ? figure : { ...figure, target: { of: 'value', ...target } };
}

export function verdictOf({ value, ratio, target }: Figure): Verdict {
  if (target === undefined) return '';
  const judged = (target.of === 'ratio' ? ratio : value)?.median ?? Number.NaN;
  const { atLeast = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY } = target;
  // Count NaN, a measurement without a value, as a miss: it fails both comparisons.
  return judged >= atLeast && judged <= atMost ? 'met' : 'missed';
}

export interface Measured {
  readonly benchmark: string;
  readonly figures: readonly Figure[];
}

const HEADINGS = ['benchmark', 'figure', 'value', 'baseline', 'ratio', 'target', 'verdict'];

/** Writes all figures as one aligned table; `a (b–c)` is the median with the lowest and the highest round. */
export function table(measured: readonly Measured[]): string {
  const lines = measured.flatMap(({ benchmark, figures }) =>
    figures.map((figure) => [
      benchmark,
      figure.what,
      `${spread(figure.value)} ${figure.unit}`.trim(),
      figure.baseline === undefined ? '' : `${spread(figure.baseline)} ${figure.unit}`.trim(),
      figure.ratio === undefined ? '' : spread(figure.ratio),
      figure.target === undefined ? '' : showTarget(figure.target, figure.unit),
      verdictOf(figure),
    ]),
  );
  const rows = [HEADINGS, ...lines];
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)));
  const rule = widths.map((width) => '-'.repeat(width));
  return [HEADINGS, rule, ...lines]
    .map((cells) => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => line.trimEnd())
    .join('\n');
}

function spread({ median, low, high, count }: Sample): string {
  return count < 2 ? digits(median) : `${digits(median)} (${digits(low)}–${digits(high)})`;
}

function showTarget({ of, atLeast, atMost }: Target, unit: string): string {
  const suffix = of === 'ratio' || unit === '' ? '' : ` ${unit}`;
  return atLeast === undefined ? `≤ ${atMost}${suffix}` : `≥ ${atLeast}${suffix}`;
}

/** Writes a number with three significant digits, because a busy machine measures no more. */
function digits(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}
