import { count, share } from '#ui/format/numbers.ts';
import { cx } from './cx.ts';

export interface MeterProps {
  readonly label: string;
  readonly value: number;
  readonly max: number;
  /** Formats value and maximum; as whole numbers by default. */
  readonly format?: (value: number) => string;
  readonly hint?: string;
}

/** Shows the used share of a limit as a bar, and always with its number. */
export function Meter({ label, value, max, format = count, hint }: MeterProps) {
  const part = max <= 0 ? 1 : value / max;
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      <div className="flex items-baseline justify-between gap-3 text-sm">
        <span className="font-medium text-ink">{label}</span>
        <span className="text-muted tabular">
          {format(value)} of {format(max)} ({share(part)})
        </span>
      </div>
      <svg
        role="meter"
        aria-label={label}
        aria-valuenow={value}
        aria-valuemin={0}
        aria-valuemax={max}
        aria-valuetext={`${format(value)} of ${format(max)}`}
        className="h-1.5 w-full rounded-full bg-line"
      >
        <rect
          width={`${Math.min(1, part) * 100}%`}
          height="100%"
          rx="3"
          className={cx(part >= 1 ? 'fill-bad' : part >= 0.8 ? 'fill-warn' : 'fill-accent')}
        />
      </svg>
      {hint !== undefined && <p className="text-sm text-muted">{hint}</p>}
    </div>
  );
}
