import { scaleBand, scaleLinear } from '@visx/scale';
import { BarRounded } from '@visx/shape';
import { SHADES } from './legend.tsx';
import { GridLines, useWidth } from './chart.tsx';

export interface BarPart {
  readonly key: string;
  readonly value: number;
}

export interface BarDatum {
  readonly key: string;
  /** Label below the axis, shown where it fits. */
  readonly label: string;
  readonly parts: readonly BarPart[];
}

export interface BarsProps {
  /** One sentence that describes the chart; a table beside it has the numbers. */
  readonly label: string;
  readonly data: readonly BarDatum[];
  readonly format: (value: number) => string;
  /** Series in their order, each with its name. */
  readonly series: readonly { readonly key: string; readonly label: string }[];
  readonly height?: number;
}

const LEFT = 44;
const BOTTOM = 20;
const TOP = 6;
const MIN_LABEL_WIDTH = 48;

/** Shows stacked bars over a few quiet lines. */
export default function Bars({ label, data, format, series, height = 180 }: BarsProps) {
  const [width, measure] = useWidth();
  const totals = data.map(({ parts }) => parts.reduce((sum, { value }) => sum + value, 0));
  const x = scaleBand({
    domain: data.map(({ key }) => key),
    range: [LEFT, Math.max(width, LEFT + 1)],
    padding: 0.28,
  });
  const y = scaleLinear({
    domain: [0, Math.max(...totals, 0) || 1],
    range: [height - BOTTOM, TOP],
    nice: true,
  });
  const every = Math.max(1, Math.ceil((data.length * MIN_LABEL_WIDTH) / Math.max(width - LEFT, 1)));
  return (
    <div ref={measure} className="w-full overflow-hidden">
      <svg role="img" aria-label={label} width={width} height={height}>
        <GridLines y={y} from={LEFT} to={width} format={format} />
        {data.map((datum, index) => (
          <g key={datum.key}>
            <title>{`${datum.label}: ${format(totals[index] ?? 0)}`}</title>
            <Stack datum={datum} series={series} x={x(datum.key) ?? 0} width={x.bandwidth()} y={y} />
            {index % every === 0 && (
              <text
                x={(x(datum.key) ?? 0) + x.bandwidth() / 2}
                y={height - 4}
                textAnchor="middle"
                className="fill-faint text-xs"
              >
                {datum.label}
              </text>
            )}
          </g>
        ))}
      </svg>
    </div>
  );
}

function Stack({
  datum,
  series,
  x,
  width,
  y,
}: {
  datum: BarDatum;
  series: BarsProps['series'];
  x: number;
  width: number;
  y: (value: number) => number;
}) {
  let below = 0;
  return series.map(({ key }, index) => {
    const value = datum.parts.find((part) => part.key === key)?.value ?? 0;
    const top = y(below + value);
    const height = y(below) - top;
    below += value;
    if (height <= 0) return null;
    return (
      <BarRounded
        key={key}
        x={x}
        y={top}
        width={width}
        height={height}
        radius={Math.min(2, height)}
        top
        className={`fill-accent ${SHADES[Math.min(index, SHADES.length - 1)]}`}
      />
    );
  });
}
