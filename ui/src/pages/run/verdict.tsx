import { BellRing, CircleCheck, CircleDashed, CircleMinus, CircleX, LoaderCircle, TriangleAlert } from 'lucide-react';
import type { FollowStatus } from '#ui/api/follow.ts';
import type { Shape } from '#ui/api/types.ts';
import { drawn } from '#ui/format/drawn.ts';
import { count } from '#ui/format/numbers.ts';
import { useNow } from '#ui/format/now.ts';
import { badgeOf, calledWith, faultOf, isOver, reasonOf, waitOf, WARNINGS } from '#ui/format/run-words.ts';
import { duration } from '#ui/format/times.ts';
import { cx } from '#ui/parts/cx.ts';
import { Time } from '#ui/parts/time.tsx';

type RunDetail = Shape<'RunDetail'>;

const LOOKS = {
  queued: [CircleDashed, 'text-faint'],
  running: [LoaderCircle, 'text-busy animate-spin'],
  succeeded: [CircleCheck, 'text-good'],
  nothing_to_report: [CircleCheck, 'text-faint'],
  partial: [TriangleAlert, 'text-warn'],
  failed: [CircleX, 'text-bad'],
  cancelled: [CircleMinus, 'text-faint'],
  skipped: [CircleMinus, 'text-faint'],
} as const;

interface VerdictProps {
  readonly run: RunDetail;
  readonly status: FollowStatus | undefined;
  /** True once the running model step has written text. */
  readonly isWriting: boolean;
}

/** Shows how and why the run ended, because readers want to know that first. */
export function Verdict({ run, ...live }: VerdictProps) {
  const looks: Readonly<Record<string, (typeof LOOKS)[keyof typeof LOOKS]>> = LOOKS;
  const [Icon, colour] = looks[badgeOf(run)] ?? looks[run.state] ?? LOOKS.queued;
  const reason = reasonOf(run);
  const said = run.outcomeSummary && drawn(run.outcomeSummary);
  const fault = run.failureClass === null ? null : faultOf(run.failureClass);
  return (
    <div data-verdict="" className="rounded-lg border border-line bg-surface px-4 py-3.5" role="status">
      <div className="flex items-start gap-3">
        <Icon aria-hidden className={cx('mt-0.5 size-5 shrink-0', colour)} strokeWidth={1.75} />
        <div className="min-w-0 grow">
          <p className="text-lg font-semibold text-ink">{headlineOf(run)}</p>
          {said !== null && <p className="mt-1 text-base text-ink wrap-anywhere">{said}</p>}
          {reason !== null && reason !== said && <p className="mt-1 text-base text-ink wrap-anywhere">{reason}</p>}
          {run.urgency === 'high' && (
            <p className="mt-1 flex items-center gap-1.5 text-base text-ink">
              <BellRing aria-hidden className="size-4 shrink-0 text-warn" strokeWidth={1.75} />
              The model calls this urgent.
            </p>
          )}
          {run.warnings.map((warning) => (
            <p key={warning} className="mt-1 text-base text-ink">
              {WARNINGS[warning]}
            </p>
          ))}
          {fault !== null && <p className="mt-1 text-sm text-muted">{fault}</p>}
          {run.skipped !== null && run.skipped.count > 1 && (
            <p className="mt-1 text-sm text-muted">
              This entry stands for {count(run.skipped.count)} occurrences, from <Time at={run.skipped.from} /> to{' '}
              <Time at={run.skipped.until} />.
            </p>
          )}
          {!isOver(run) && <Progress run={run} {...live} />}
        </div>
      </div>
    </div>
  );
}

const HEADLINES: Readonly<Record<string, string>> = {
  queued: 'Waiting to start',
  running: 'Running',
  succeeded: 'Succeeded',
  nothing_to_report: 'Nothing to report',
  partial: 'Succeeded in part',
  failed: 'Failed',
  cancelled: 'Cancelled',
  skipped: 'Skipped: this occurrence did not run',
};

function headlineOf(run: RunDetail): string {
  if (!isOver(run) && run.cancelRequestedAt !== null) return 'Being cancelled';
  if (run.reason === 'no_change') return 'Skipped: nothing new';
  return HEADLINES[badgeOf(run)] ?? HEADLINES[run.state] ?? run.state;
}

const STREAMS: Readonly<Partial<Record<FollowStatus, string>>> = {
  connecting: 'Connecting',
  live: 'Live',
  reconnecting: 'Connection lost; trying again',
  polling: 'Live updates do not come through; this page reads the run every few seconds',
  refused: 'You may no longer follow this run',
};

/** Describes the first open step, or the step that follows the last one. */
function underWay({ steps }: RunDetail, isWriting: boolean): string {
  const at = steps.findIndex(({ finishedAt }) => finishedAt === null);
  const call = steps[at]?.tool;
  const does = call != null ? `Calling ${calledWith(call)}` : isWriting ? 'Writing' : 'Waiting for the model';
  return `${does} · step ${(at === -1 ? steps.length : at) + 1}`;
}

/** Counts the time since the run began. Screen readers skip it, because it changes each second. */
function Clock({ since }: { readonly since: string }) {
  const seconds = Math.max(Math.floor((useNow(1_000).getTime() - Date.parse(since)) / 1_000), 0);
  return (
    <span aria-hidden className="tabular">
      {seconds < 60 ? `${seconds} s` : duration(seconds * 1_000)}
    </span>
  );
}

function Progress({ run, status, isWriting }: VerdictProps) {
  const stream = status === undefined ? undefined : STREAMS[status];
  return (
    <p className="mt-1 flex flex-wrap items-center gap-x-2 text-sm text-muted">
      {run.waitingFor !== null && <span>{waitOf(run.waitingFor)}</span>}
      {run.state === 'running' && <span className="min-w-0 wrap-anywhere">{underWay(run, isWriting)}</span>}
      {run.state === 'running' && run.startedAt !== null && <Clock since={run.startedAt} />}
      {stream !== undefined && (
        <span className="inline-flex items-center gap-1.5">
          <span
            aria-hidden
            className={cx('size-1.5 rounded-full', status === 'live' ? 'bg-good' : 'animate-pulse bg-warn')}
          />
          {stream}
        </span>
      )}
    </p>
  );
}
