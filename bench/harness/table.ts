import { verdictOf, type Figure, type Sample, type Target } from './figures.ts';

export interface Measured {
  readonly benchmark: string;
  readonly figures: readonly Figure[];
}

const HEADINGS = ['benchmark', 'figure', 'value', 'baseline', 'ratio', 'target', 'verdict'];

/** All figures as one aligned table; `a (b–c)` is the median and the rounds it lies between. */
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
  const widths = HEADINGS.map((_, column) =>
    Math.max(...rows.map((cells) => cells[column]?.length ?? 0)),
  );
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

/** Three significant digits are more than a busy machine can tell. */
function digits(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}
