import { memo } from 'react';
import { Bot, Wrench } from 'lucide-react';
import type { Shape } from '#ui/api/types.ts';
import { drawn } from '#ui/format/drawn.ts';
import { money, plural, shortCount } from '#ui/format/numbers.ts';
import { duration } from '#ui/format/times.ts';
import { asksForTools, calledWith } from '#ui/format/run-words.ts';
import { unmarked } from '#ui/format/unmarked.ts';
import { cx } from '#ui/parts/cx.ts';
import { StateBadge } from '#ui/parts/state.tsx';
import { Fold } from '#ui/parts/fold.tsx';
import { ReadStep, StepDetail } from './step-detail.tsx';
import { placeOf, tookMs, type Span } from './step-time.ts';

type Step = Shape<'Step'>;

/** Columns of the waterfall; on a phone the bar is below. */
export const STEP_GRID =
  'grid min-w-0 grow items-center gap-x-3 grid-cols-[1rem_minmax(0,1fr)_auto] sm:grid-cols-[1rem_minmax(0,1fr)_30%_3rem_4rem_3.5rem]';

export interface StepRowProps {
  readonly step: Step;
  /** Id of the run, set if its detail leaves out the texts of this step. */
  readonly textsOf: string | undefined;
  /** State in the words of the dashboard. */
  readonly badge: string;
  /** Number of earlier calls whose results are left out from this step on. */
  readonly leftOut: number;
  readonly span: Span;
  /** Start of a running step; null for one that has ended. */
  readonly since: string | null;
  /** The present time while the step is under way. Undefined afterwards, so that the row is not drawn again. */
  readonly now: number | undefined;
}

export const StepRow = memo(Row);

function Row({ step, textsOf, badge, leftOut, span, since, now }: StepRowProps) {
  const took = tookMs(step);
  const isModel = step.kind === 'model';
  const isCounted = step.usage.totalTokens > 0;
  const Icon = isModel ? Bot : Wrench;
  return (
    <li className="border-b border-line last:border-b-0">
      <Fold
        summary={
          <span className={STEP_GRID}>
            <Icon aria-hidden className="size-3.5 text-faint" strokeWidth={1.75} />
            <span className="flex min-w-0 items-center gap-2">
              <span className={cx('truncate text-sm text-ink', !isModel && 'font-mono text-xs leading-5')}>
                {labelOf(step)}
              </span>
              {badge !== 'succeeded' && <StateBadge state={badge} />}
              {step.attempt > 1 && <span className="shrink-0 text-xs text-warn-ink">attempt {step.attempt}</span>}
              {step.warnings.length > 0 && (
                <span className="shrink-0 text-xs text-warn-ink">{plural(step.warnings.length, 'warning')}</span>
              )}
            </span>
            <Bar step={step} badge={badge} span={span} now={now} />
            <span className="text-right text-xs text-muted tabular max-sm:hidden">
              {isCounted ? shortCount(step.usage.totalTokens) : ''}
            </span>
            <span className="text-right text-xs text-muted tabular max-sm:hidden">
              {isCounted ? money(step.usage.costUsd) : ''}
            </span>
            <span className="text-right text-xs whitespace-nowrap text-muted tabular max-sm:col-start-3 max-sm:row-start-1">
              {took === null ? clockOf(since, now) : duration(took)}
            </span>
          </span>
        }
      >
        {textsOf === undefined ? (
          <StepDetail step={step} badge={badge} leftOut={leftOut} />
        ) : (
          <ReadStep runId={textsOf} step={step} badge={badge} leftOut={leftOut} />
        )}
      </Fold>
    </li>
  );
}

/** Says how long something has been under way, in whole seconds. */
function clockOf(startedAt: string | null, now: number | undefined): string {
  if (startedAt === null || now === undefined) return '';
  const seconds = Math.max(Math.floor((now - Date.parse(startedAt)) / 1_000), 0);
  return seconds < 60 ? `${seconds} s` : duration(seconds * 1_000);
}

function labelOf(step: Step): string {
  if (step.tool !== null) return calledWith(step.tool);
  const [line = ''] = unmarked(step.text ?? '').split('\n', 1);
  if (line !== '') return drawn(line);
  if (asksForTools(step)) return 'Asked for tools';
  return step.finishedAt === null ? 'Asking the model' : 'Model';
}

const FILLS = { model: 'fill-accent', tool: 'fill-accent opacity-45' } as const;

/** Colours of steps that did not succeed. */
const ENDS: Readonly<Record<string, string>> = { failed: 'fill-bad', cancelled: 'fill-idle' };

/** Shows the place of a step in the duration of its run. */
function Bar({ step, badge, span, now }: Omit<StepRowProps, 'leftOut' | 'since' | 'textsOf'>) {
  const place = placeOf(step, span, now);
  const took = tookMs(step);
  return (
    <svg
      role="img"
      aria-label={took === null ? 'Not over yet' : `Took ${duration(took)}`}
      className="h-3 w-full max-sm:col-span-3 max-sm:mt-1"
    >
      <rect width="100%" height="1" y="5.5" className="fill-line" />
      {place !== undefined && (
        <rect
          x={`${Math.min(place.left, 99.2)}%`}
          y="1"
          height="10"
          rx="2"
          style={{ width: `max(3px, ${place.width}%)` }}
          className={took === null ? 'animate-pulse fill-busy' : (ENDS[badge] ?? FILLS[step.kind])}
        />
      )}
    </svg>
  );
}

/** Shows the work between the last recorded step and the next one. */
export function UnderWay({
  steps,
  from,
  span,
  now,
}: {
  readonly steps: readonly Step[];
  readonly from: string | null;
  readonly span: Span;
  readonly now: number;
}) {
  const startedAt = steps.at(-1)?.finishedAt ?? from;
  const place = placeOf({ startedAt, finishedAt: null }, span, now);
  return (
    <li className="flex min-h-9 items-center gap-2 px-3 py-1.5">
      <span aria-hidden className="w-3.5 shrink-0" />
      <span className={STEP_GRID}>
        <Bot aria-hidden className="size-3.5 animate-pulse text-busy" strokeWidth={1.75} />
        <span className="truncate text-sm text-muted">The next step is under way</span>
        <svg aria-hidden className="h-3 w-full max-sm:col-span-3 max-sm:mt-1">
          <rect width="100%" height="1" y="5.5" className="fill-line" />
          {place !== undefined && (
            <rect
              x={`${place.left}%`}
              y="1"
              height="10"
              rx="2"
              style={{ width: `max(3px, ${place.width}%)` }}
              className="animate-pulse fill-busy opacity-60"
            />
          )}
        </svg>
        <span className="text-right text-xs whitespace-nowrap text-muted tabular max-sm:col-start-3 max-sm:row-start-1 sm:col-start-6">
          {clockOf(startedAt, now)}
        </span>
      </span>
    </li>
  );
}
