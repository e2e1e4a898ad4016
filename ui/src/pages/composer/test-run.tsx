import { useQueryClient } from '@tanstack/react-query';
import { Play, SquareArrowOutUpRight } from 'lucide-react';
import { useState } from 'react';
import type { FollowStatus } from '#ui/api/follow.ts';
import { sentence } from '#ui/format/capitalized.ts';
import { drawn } from '#ui/format/drawn.ts';
import { useProjectId } from '#ui/api/project.ts';
import { useRead } from '#ui/api/read.ts';
import { useRunEvents, withPiece, type LiveText as SaidSoFar } from '#ui/api/run-events.ts';
import { refresh } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { CANCEL_RUN } from '#ui/api/verbs/runs.ts';
import { useVerb } from '#ui/api/verbs/verb.ts';
import { moneyInWords, plural, shortCount } from '#ui/format/numbers.ts';
import { calledWith, isOver, stepBadgeOf, tookOf, waitOf, WARNINGS } from '#ui/format/run-words.ts';
import { duration } from '#ui/format/times.ts';
import { ActivationOffer } from '#ui/parts/activation-offer.tsx';
import { Button, ButtonLink } from '#ui/parts/button.tsx';
import { RichText } from '#ui/parts/lazily.tsx';
import { LiveText } from '#ui/parts/live-text.tsx';
import { Dot, StateBadge, toneOf } from '#ui/parts/state.tsx';
import { Checkbox } from '#ui/parts/toggles.tsx';
import { VerbButton } from '#ui/parts/verb-button.tsx';

import type { RehearsalChoice } from './use-rehearsal.ts';

export interface TestRunProps {
  readonly runId: string | undefined;
  /** Saves the changes and starts a run. */
  readonly onTest: () => void;
  readonly rehearsal: RehearsalChoice;
  readonly isStarting: boolean;
  /** True when there are changes to save first. */
  readonly isDirty: boolean;
}

/** Shows a test run live beside the editor. */
export default function TestRun({ runId, onTest, rehearsal, isStarting, isDirty }: TestRunProps) {
  const projectId = useProjectId();
  const client = useQueryClient();
  const followed = useTestRunEvents(runId, () => void refresh(client, projectId, ['/v1/routines', '/v1/runs']));
  const isRunning = runId !== undefined && (followed.run === undefined || !isOver(followed.run));
  return (
    <section aria-labelledby="test-run" className="flex flex-col gap-3">
      <div className="flex items-center justify-between gap-3">
        <h2 id="test-run" className="text-base font-semibold text-ink">
          Test run
        </h2>
        <Button
          size="sm"
          icon={Play}
          busy={isStarting}
          disabledReason={isRunning ? 'A test run is under way.' : undefined}
          onClick={onTest}
        >
          {isDirty ? 'Save and test' : runId === undefined ? 'Test' : 'Test again'}
        </Button>
      </div>
      {rehearsal.rehearses !== undefined && (
        <Checkbox
          label="Rehearse"
          description="The test calls only tools that read, and lists the other calls. It proves nothing."
          checked={rehearsal.rehearses}
          onChange={rehearsal.choose}
        />
      )}
      <div className="rounded-lg border border-line bg-surface">
        {runId === undefined ? (
          <p className="px-4 py-8 text-center text-sm text-muted">
            Run the routine once to see its result. A good run of the saved routine also proves it for activation.
          </p>
        ) : (
          <Progress followed={followed} runId={runId} />
        )}
      </div>
      {followed.run?.state === 'succeeded' && followed.run.trigger !== 'rehearsal' && !isDirty && (
        <ActivationOffer routineId={followed.run.routineId} />
      )}
    </section>
  );
}

function Progress({ followed: { run, steps, status, live }, runId }: { followed: FollowedRun; runId: string }) {
  const projectId = useProjectId();
  const cancel = useVerb(CANCEL_RUN);
  const state = run?.state ?? 'queued';
  const isEnded = isOver({ state });
  return (
    <div aria-busy={status === 'connecting' || undefined}>
      <header className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-2.5">
        <span role="status">
          <StateBadge state={run?.outcome ?? state} />
        </span>
        <span className="grow truncate text-xs text-muted tabular">{run !== undefined && spent(run)}</span>
        {run !== undefined && !isEnded && <VerbButton verb={cancel} of={run} size="sm" kind="quiet" label="Cancel" />}
        {run !== undefined && isEnded && (
          <ButtonLink
            size="sm"
            kind="quiet"
            icon={SquareArrowOutUpRight}
            to="/p/$projectId/runs/$runId"
            params={{ projectId, runId }}
          >
            Details
          </ButtonLink>
        )}
      </header>
      {!isEnded && (status === 'reconnecting' || status === 'polling') && (
        <p className="border-b border-line px-4 py-1.5 text-xs text-muted">
          {status === 'polling'
            ? 'The page reads the run every few seconds.'
            : 'The connection was cut. Connecting again.'}
        </p>
      )}
      <Steps run={run} steps={steps} isEnded={isEnded} />
      {live !== undefined && !isEnded && <LiveText text={live.text} />}
      {run?.trigger === 'rehearsal' && isEnded && (
        <p className="px-4 pt-3 text-sm text-muted">
          {stagedInWords(steps.filter(({ tool }) => tool?.rehearsed != null).length)}
        </p>
      )}
      {run !== undefined && isEnded && <Ending run={run} />}
    </div>
  );
}

function stagedInWords(calls: number): string {
  if (calls === 0) return 'Rehearsal: the run did not try to write anything.';
  return `Rehearsal: ${plural(calls, 'call')} not made. The details list these calls.`;
}

function Steps({ run, steps, isEnded }: Pick<FollowedRun, 'run' | 'steps'> & { isEnded: boolean }) {
  if (steps.length === 0 && isEnded) return null;
  return (
    <ol className="flex flex-col gap-1 border-b border-line px-4 py-2.5 text-sm">
      {steps.map((step) => (
        <li key={step.index} className="flex items-center gap-2">
          <Dot tone={toneOf(stepBadgeOf(step, run))} />
          <span className="min-w-0 grow truncate text-ink">{step.tool === null ? 'Model' : calledWith(step.tool)}</span>
          <span className="shrink-0 text-xs text-muted tabular">
            {step.tool === null && `${shortCount(step.usage.totalTokens)} tokens · `}
            {tookOf(step)}
          </span>
        </li>
      ))}
      {!isEnded && (
        <li className="flex items-baseline gap-2 text-muted">
          <Dot tone="busy" />
          {run?.state === 'queued' ? <Wait runId={run.id} /> : steps.length === 0 ? 'Starting' : 'Working'}
        </li>
      )}
    </ol>
  );
}

/** Says why the run has not begun. The run is read for this, because its events do not have the reason. */
function Wait({ runId }: { readonly runId: string }) {
  const { data } = useRead('/v1/runs/{runId}', { path: { runId } }, { everyMs: 3_000 });
  return data?.waitingFor == null ? 'Starting' : waitOf(data.waitingFor);
}

function Ending({ run }: { run: Shape<'Run'> }) {
  return (
    <div className="flex flex-col gap-3 px-4 py-3">
      {run.errorMessage !== null && <p className="text-sm text-bad-ink">{sentence(drawn(run.errorMessage))}</p>}
      {run.outcomeSummary !== null && <p className="text-sm text-ink">{drawn(run.outcomeSummary)}</p>}
      {run.warnings.map((warning) => (
        <p key={warning} className="text-sm text-ink">
          {WARNINGS[warning]}
        </p>
      ))}
      {run.checks.length > 0 && (
        <ul className="flex flex-col gap-1 text-sm">
          {run.checks.map((check, index) => (
            <li key={index} className="flex items-baseline gap-2">
              <Dot tone={check.passed ? 'good' : 'bad'} />
              <span className={check.passed ? 'text-muted' : 'text-ink'}>{check.detail}</span>
            </li>
          ))}
        </ul>
      )}
      {run.result !== null && (
        <div
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls has to take the focus
          tabIndex={0}
          role="region"
          aria-label="Result"
          className="max-h-[26rem] overflow-y-auto text-sm"
        >
          <RichText text={run.result} />
        </div>
      )}
    </div>
  );
}

function spent({ usage, stepCount, startedAt, finishedAt }: Shape<'Run'>): string {
  const parts = [
    stepCount > 0 && plural(stepCount, 'step'),
    usage.totalTokens > 0 && usage.costUsd !== null && moneyInWords(usage.costUsd),
    startedAt !== null && finishedAt !== null && duration(Date.parse(finishedAt) - Date.parse(startedAt)),
  ];
  return parts.filter((part) => part !== false).join(' · ');
}

type Step = Shape<'Step'>;

interface FollowedRun {
  readonly run: Shape<'Run'> | undefined;
  readonly steps: readonly Step[];
  readonly status: FollowStatus;
  readonly live: SaidSoFar | undefined;
}

const NOTHING: FollowedRun = { run: undefined, steps: [], status: 'connecting', live: undefined };

/** Follows a test run by its events alone until it ends. */
function useTestRunEvents(runId: string | undefined, onEnd: () => void): FollowedRun {
  const [followed, setFollowed] = useState<FollowedRun & { of?: string | undefined }>(NOTHING);
  const change = (over: (now: FollowedRun) => Partial<FollowedRun>) =>
    setFollowed((now) => {
      const mine = now.of === runId ? now : NOTHING;
      return { ...mine, ...over(mine), of: runId };
    });
  useRunEvents(runId, {
    onStatus: (status) => {
      change(() => ({ status }));
      if (status === 'ended') onEnd();
    },
    onState: (run) => change(() => ({ run })),
    onStep: (step) => change(({ steps }) => ({ steps: withStep(steps, step), live: undefined })),
    onText: (piece) => change(({ live }) => ({ live: withPiece(live, piece) })),
    onRead: (run) => change(() => ({ run, steps: run.steps, live: undefined })),
  });
  return followed.of === runId ? followed : NOTHING;
}

function withStep(steps: readonly Step[], step: Step): readonly Step[] {
  return [...steps.filter(({ index }) => index !== step.index), step].toSorted((a, b) => a.index - b.index);
}
