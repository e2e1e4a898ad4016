import type { Shape } from '#ui/api/types.ts';

type Step = Shape<'Step'>;

/** The span of time that a waterfall shows. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * Measures a run from its start, or an earlier step, to its end. While the run is open, the end is rounded up, so that
 * the bars move rarely.
 */
export function spanOf(
  run: { readonly startedAt: string | null; readonly finishedAt: string | null },
  steps: readonly Step[],
  now: number,
): Span {
  const starts = [run.startedAt, ...steps.map(({ startedAt }) => startedAt)].flatMap(timeOf);
  const ends = steps.flatMap(({ finishedAt }) => timeOf(finishedAt));
  const from = starts.length === 0 ? now : Math.min(...starts);
  const end = run.finishedAt === null ? from + roundUp(now - from) : Date.parse(run.finishedAt);
  return { from, to: Math.max(end, from + 1, ...ends) };
}

const ROUND_SECONDS = [5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 300, 420, 600, 900, 1_200, 1_800, 2_700];

function roundUp(ms: number): number {
  const seconds = ROUND_SECONDS.find((each) => ms < each * 1_000);
  return (seconds ?? Math.ceil((ms + 1) / 3_600_000) * 3_600) * 1_000;
}

/** Places a step within the span, in percent. An open step lasts until now. Undefined before the step begins. */
export function placeOf(
  { startedAt, finishedAt }: Pick<Step, 'startedAt' | 'finishedAt'>,
  { from, to }: Span,
  now: number | undefined,
): { readonly left: number; readonly width: number } | undefined {
  if (startedAt === null) return undefined;
  const percent = (at: number) => ((at - from) / (to - from)) * 100;
  const left = percent(Date.parse(startedAt));
  const right = finishedAt === null ? percent(now ?? to) : percent(Date.parse(finishedAt));
  return { left, width: Math.max(right - left, 0) };
}

/** Measures how long a step took; null while it runs. */
export function tookMs({ startedAt, finishedAt }: Pick<Step, 'startedAt' | 'finishedAt'>): number | null {
  if (startedAt === null || finishedAt === null) return null;
  return Date.parse(finishedAt) - Date.parse(startedAt);
}

function timeOf(at: string | null): number[] {
  return at === null ? [] : [Date.parse(at)];
}
