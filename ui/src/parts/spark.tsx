import { LinePath } from '@visx/shape';

const WIDTH = 64;
const HEIGHT = 18;
const MARGIN = 2;

export interface SparkProps {
  /** Oldest first. Null leaves a gap in the line. */
  readonly values: readonly (number | null)[];
}

/** Draws a number over time in the size of a word. The text beside it has the values. */
export default function Spark({ values }: SparkProps) {
  const known = values.flatMap((value) => value ?? []);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const x = (index: number) => MARGIN + (index / Math.max(values.length - 1, 1)) * (WIDTH - 2 * MARGIN);
  const y = (value: number) =>
    low === high ? HEIGHT / 2 : HEIGHT - MARGIN - ((value - low) / (high - low)) * (HEIGHT - 2 * MARGIN);
  const last = values.findLastIndex((value) => value !== null);
  return (
    <svg aria-hidden width={WIDTH} height={HEIGHT} className="shrink-0">
      <LinePath
        data={[...values]}
        x={(_, index) => x(index)}
        y={(value) => y(value ?? 0)}
        defined={(value) => value !== null}
        className="fill-none stroke-accent"
        strokeWidth={1.5}
      />
      {last >= 0 && <circle cx={x(last)} cy={y(values[last] ?? 0)} r={1.75} className="fill-accent" />}
    </svg>
  );
}
