import { scaleLinear, scaleTime } from '@visx/scale';
import { LinePath } from '@visx/shape';
import { GridLines, useWidth } from './chart.tsx';

export interface LinePoint {
  readonly key: string;
  readonly at: Date;
  /** Null leaves a gap in the line. */
  readonly value: number | null;
  /** Title of the point. */
  readonly label: string;
}

export interface LineProps {
  /** One sentence that describes the chart; a table beside it has the numbers. */
  readonly label: string;
  readonly points: readonly LinePoint[];
  readonly format: (value: number) => string;
  readonly dayOf: (at: Date) => string;
}

const HEIGHT = 160;
const LEFT = 56;
const RIGHT = 10;
const BOTTOM = 22;
const TOP = 8;

/** Shows a number over time, with a mark at each value. */
export default function Line({ label, points, format, dayOf }: LineProps) {
  const [width, measure] = useWidth();
  const values = points.flatMap(({ value }) => value ?? []);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const margin = low === high ? Math.abs(low) * 0.1 || 1 : 0;
  const y = scaleLinear({
    domain: [low - margin, high + margin],
    range: [HEIGHT - BOTTOM, TOP],
    nice: 3,
  });
  const times = points.map(({ at }) => at.getTime());
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const x = scaleTime({
    domain: first === last ? [first - 1, last + 1] : [first, last],
    range: [LEFT + 4, Math.max(width - RIGHT, LEFT + 5)],
  });
  return (
    <div ref={measure} className="w-full overflow-hidden">
      <svg role="img" aria-label={label} width={width} height={HEIGHT}>
        <GridLines y={y} from={LEFT} to={width} format={format} />
        <LinePath
          data={[...points]}
          x={({ at }) => x(at)}
          y={({ value }) => y(value ?? 0)}
          defined={({ value }) => value !== null}
          className="fill-none stroke-accent"
          strokeWidth={1.75}
        />
        {points.map(({ key, at, value, label: name }) =>
          value === null ? null : (
            <circle key={key} cx={x(at)} cy={y(value)} r={3} className="fill-accent">
              <title>{`${name}: ${format(value)}`}</title>
            </circle>
          ),
        )}
        {[first, ...(first === last ? [] : [last])].map((time, index) => (
          <text
            key={time}
            x={x(time)}
            y={HEIGHT - 5}
            textAnchor={index === 0 ? 'start' : 'end'}
            className="fill-faint text-xs"
          >
            {dayOf(new Date(time))}
          </text>
        ))}
      </svg>
    </div>
  );
}
