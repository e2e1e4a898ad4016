import { useLayoutEffect, useRef, useState } from 'react';

/** Measures the width of an element, for a chart in it. */
export function useWidth() {
  const ref = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = ref.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setWidth(Math.round(entry.contentRect.width));
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [width, ref] as const;
}

export interface GridLinesProps {
  /** The vertical scale. */
  readonly y: ((value: number) => number) & { ticks(count: number): number[] };
  /** Left and right end of the lines; the values are to the left. */
  readonly from: number;
  readonly to: number;
  readonly format: (value: number) => string;
}

/** Draws a few quiet lines with their values at the left. */
export function GridLines({ y, from, to, format }: GridLinesProps) {
  return y.ticks(3).map((value) => (
    <g key={value}>
      <line x1={from} x2={to} y1={y(value)} y2={y(value)} className="stroke-line" />
      <text x={from - 8} y={y(value)} dy="0.32em" textAnchor="end" className="fill-faint text-xs tabular">
        {format(value)}
      </text>
    </g>
  ));
}
