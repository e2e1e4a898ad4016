import { ArrowDown } from 'lucide-react';
import { useEffect, useMemo, useRef, useState, type RefObject } from 'react';
import type { Shape } from '#ui/api/types.ts';
import { useNow } from '#ui/format/now.ts';
import { plural } from '#ui/format/numbers.ts';
import { isOver, stepBadgeOf } from '#ui/format/run-words.ts';
import { duration } from '#ui/format/times.ts';
import { Button } from '#ui/parts/button.tsx';
import { Section } from '#ui/parts/page.tsx';
import { StepRow, UnderWay, STEP_GRID } from './step-row.tsx';
import { spanOf } from './step-time.ts';

type RunDetail = Shape<'RunDetail'>;

/** Shows the steps of a run, one below the other, each at its place in time. */
export function Steps({ run }: { readonly run: RunDetail }) {
  const isRunning = run.state === 'running';
  const isOpen = !isOver(run);
  const now = useNow(isRunning ? 500 : 3_600_000).getTime();
  const { tail, isLeft, follow } = useTail(isOpen, run.steps.length);
  const { from, to } = spanOf(run, run.steps, now);
  // Keep the object while its times are the same, so that the rows of a long run are not drawn again.
  const span = useMemo(() => ({ from, to }), [from, to]);
  if (run.steps.length === 0 && !isRunning) return null;
  const calls = run.steps.filter(({ kind }) => kind === 'tool').length;
  const leftOut = countLeftOut(run.steps);
  const lastEnd = run.steps.findLast(({ finishedAt }) => finishedAt !== null)?.finishedAt ?? run.startedAt;
  const isBetween = isRunning && run.steps.every(({ finishedAt }) => finishedAt !== null);
  return (
    <Section
      title="Steps"
      description={[
        plural(run.steps.length - calls, 'model step'),
        ...(calls === 0 ? [] : [plural(calls, 'tool call')]),
      ].join(', ')}
    >
      <div className="rounded-lg border border-line bg-surface">
        <div aria-hidden className={`${STEP_GRID} border-b border-line px-3 py-1.5 text-xs text-faint max-sm:hidden`}>
          <span />
          <span>Step</span>
          <span className="flex justify-between">
            <span>0 s</span>
            <span>{duration(span.to - span.from)}</span>
          </span>
          <span className="text-right">Tokens</span>
          <span className="text-right">Cost</span>
          <span className="text-right">Took</span>
        </div>
        <ol aria-label="Steps">
          {run.steps.map((step) => (
            <StepRow
              key={step.index}
              step={step}
              textsOf={isLeftOut(run, step) ? run.id : undefined}
              badge={stepBadgeOf(step, run)}
              leftOut={leftOut.get(step.index) ?? 0}
              span={span}
              since={step.finishedAt === null ? (step.startedAt ?? lastEnd) : null}
              now={step.finishedAt === null ? now : undefined}
            />
          ))}
          {isBetween && <UnderWay steps={run.steps} from={run.startedAt} span={span} now={now} />}
        </ol>
        <div ref={tail} tabIndex={-1} className="-mt-px h-px scroll-mb-16 outline-none" />
      </div>
      {isLeft && (
        <div className="pointer-events-none fixed inset-x-0 bottom-4 z-30 flex justify-center lg:pl-[14.5rem]">
          <Button icon={ArrowDown} className="pointer-events-auto shadow-overlay" onClick={follow}>
            Follow the newest step
          </Button>
        </div>
      )}
    </Section>
  );
}

/** Tells whether the run's detail, which has a limited length, lacks the texts of a step. */
function isLeftOut({ textsLeftOutFrom: from }: RunDetail, { index }: Shape<'Step'>): boolean {
  return from !== null && index >= from;
}

/** Counts the results that each model step was the first to leave out, because its context window was full. */
function countLeftOut(steps: RunDetail['steps']): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const { tool } of steps) {
    const from = tool?.omittedFromStep ?? null;
    if (from !== null) counts.set(from, (counts.get(from) ?? 0) + 1);
  }
  return counts;
}

/** Keys with which a reader moves on a page, or opens something on it. */
const READING_KEYS: ReadonlySet<string> = new Set([
  'ArrowUp',
  'ArrowDown',
  'PageUp',
  'PageDown',
  'Home',
  'End',
  'Tab',
  'Enter',
  ' ',
]);

interface Tail {
  /** The element after the newest line. */
  readonly tail: RefObject<HTMLDivElement | null>;
  /** True once the reader has moved and the newest line is out of sight. */
  readonly isLeft: boolean;
  readonly follow: () => void;
}

/**
 * Keeps the newest line in view while the list grows, until the reader scrolls, points or moves the focus. From then on
 * the page stays in place until following is switched on again. At the end, a following reader is taken to the outcome
 * at the top.
 */
function useTail(isGrowing: boolean, length: number): Tail {
  const [isFollowing, setFollowing] = useState(true);
  const tail = useRef<HTMLDivElement>(null);
  const hasFollowed = useRef(false);
  const isActive = isGrowing && isFollowing;
  useEffect(() => {
    if (!isActive) return;
    hasFollowed.current = true;
    tail.current?.scrollIntoView({ block: 'nearest' });
  }, [isActive, length]);
  useEffect(() => {
    if (isGrowing || !isFollowing || !hasFollowed.current) return;
    hasFollowed.current = false;
    scrollTo({ top: 0 });
  }, [isGrowing, isFollowing]);
  useEffect(() => {
    if (!isActive) return undefined;
    const leaving = new AbortController();
    const { signal } = leaving;
    const stop = () => setFollowing(false);
    addEventListener('wheel', stop, { passive: true, signal });
    addEventListener('touchmove', stop, { passive: true, signal });
    // A press on the scroll bar or on an opened step counts too: the line that is being read must not move away.
    addEventListener('pointerdown', stop, { signal });
    addEventListener('keydown', ({ key }) => READING_KEYS.has(key) && stop(), { signal });
    return () => leaving.abort();
  }, [isActive]);
  const [isInView, setInView] = useState(true);
  const isLoose = isGrowing && !isFollowing;
  useEffect(() => {
    if (!isLoose || tail.current === null) return undefined;
    // Take the newest entry, which is the last: a busy page reports several at once.
    const observer = new IntersectionObserver((entries) => setInView(entries.at(-1)?.isIntersecting ?? true));
    observer.observe(tail.current);
    return () => observer.disconnect();
  }, [isLoose]);
  const follow = () => {
    setFollowing(true);
    // The focused button disappears, so the element after the newest line takes the focus.
    tail.current?.focus({ preventScroll: true });
  };
  return { tail, isLeft: isLoose && !isInView, follow };
}
