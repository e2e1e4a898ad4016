import { exactTime } from '#ui/format/times.ts';
import { describeState, type Tone } from './state.tsx';

export interface Tick {
  readonly id: string;
  readonly state: string;
  /** Time at which the run began, or was due. */
  readonly at: string;
}

export interface TicksProps {
  /** The newest first, as lists of the API are. */
  readonly runs: readonly Tick[];
  readonly length?: number;
}

const WIDTH = 5;
const GAP = 3;
const HEIGHT = 18;

const FILLS: Readonly<Record<Tone, string>> = {
  good: 'fill-good',
  news: 'fill-busy',
  warn: 'fill-warn',
  bad: 'fill-bad',
  busy: 'fill-busy animate-pulse',
  idle: 'fill-idle',
};

/**
 * Shows the last runs, the newest on the right: a full bar for a run, a half one for a skipped occurrence, a low one
 * for a coming one.
 */
export function Ticks({ runs, length = 10 }: TicksProps) {
  const shown = runs.slice(0, length).toReversed();
  const empty = length - shown.length;
  const width = length * (WIDTH + GAP) - GAP;
  return (
    <svg
      role="img"
      aria-label={summary(shown)}
      width={width}
      height={HEIGHT}
      viewBox={`0 0 ${width} ${HEIGHT}`}
      className="shrink-0"
    >
      {Array.from({ length: empty }, (_, index) => (
        <rect
          key={index}
          x={index * (WIDTH + GAP)}
          y={HEIGHT - 3}
          width={WIDTH}
          height={3}
          rx={1}
          className="fill-line"
        />
      ))}
      {shown.map((run, index) => (
        <Bar key={run.id} run={run} x={(empty + index) * (WIDTH + GAP)} />
      ))}
    </svg>
  );
}

/** Shows a run. Its title appears over the whole height even of a low bar. */
function Bar({ run: { state, at }, x }: { readonly run: Tick; readonly x: number }) {
  const height = heightOf(state);
  const { label, tone } = describeState(state);
  const title = <title>{`${label}, ${exactTime(new Date(at))}`}</title>;
  const bar = { x, y: HEIGHT - height, width: WIDTH, height, rx: 1.5, className: FILLS[tone] };
  if (height === HEIGHT) return <rect {...bar}>{title}</rect>;
  return (
    <g>
      {title}
      <rect x={x} width={WIDTH} height={HEIGHT} fill="transparent" />
      <rect {...bar} />
    </g>
  );
}

function heightOf(state: string): number {
  if (state === 'skipped' || state === 'cancelled') return 9;
  return state === 'queued' ? 5 : HEIGHT;
}

function summary(runs: readonly Tick[]): string {
  if (runs.length === 0) return 'No runs yet';
  const counts = Map.groupBy(runs, ({ state }) => describeState(state).label.toLowerCase());
  const parts = [...counts].map(([label, group]) => `${group.length} ${label}`);
  return `Last ${runs.length} runs: ${parts.join(', ')}`;
}
