import { getRouteApi } from '@tanstack/react-router';
import { Check, X } from 'lucide-react';
import { useEffect, useEffectEvent } from 'react';
import type { FollowStatus } from '#ui/api/follow.ts';
import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { badgeOf, humanize, isOver, versionOf } from '#ui/format/run-words.ts';
import { exactTime } from '#ui/format/times.ts';
import { ActivationOffer } from '#ui/parts/activation-offer.tsx';
import { Await, Notice } from '#ui/parts/feedback.tsx';
import { cx } from '#ui/parts/cx.ts';
import { LiveText } from '#ui/parts/live-text.tsx';
import { Box, PageHeader, Section } from '#ui/parts/page.tsx';
import { Skeleton, SkeletonRows, SkeletonText } from '#ui/parts/skeleton.tsx';
import { StateBadge } from '#ui/parts/state.tsx';
import { TextFold } from '#ui/parts/text-fold.tsx';
import { Time } from '#ui/parts/time.tsx';
import { Actions } from './actions.tsx';
import { AskedQuestions, Rehearsal } from './asked.tsx';
import { ChatDeliveries, Deliveries, Notifications } from './deliveries.tsx';
import { Facts, Gate } from './facts.tsx';
import { useFollowedRun } from './followed-run.ts';
import { HeldCalls } from './held.tsx';
import { LastGood } from './last-good.tsx';
import { Nearby } from './nearby.tsx';
import { Opinion } from './opinion.tsx';
import { Asked, Questions } from './questions.tsx';
import { Result } from './result.tsx';
import { Steps } from './steps.tsx';
import { Verdict } from './verdict.tsx';

const { useParams } = getRouteApi('/account/p/$projectId/runs/$runId');

export function RunPage() {
  const { projectId, runId } = useParams();
  return <Run key={runId} projectId={projectId} runId={runId} />;
}

function Run({ projectId, runId }: { projectId: string; runId: string }) {
  const { run, status, live } = useFollowedRun(runId);
  useMarkedRead(run.data);
  const back = {
    label: 'Runs',
    link: { to: '/p/$projectId/runs', params: { projectId } },
  } as const;
  return (
    <>
      <div className="print:hidden">
        <PageHeader
          title={run.data?.routineName ?? 'Run'}
          documentTitle={run.data === undefined ? 'Run' : `${run.data.routineName}, run`}
          back={back}
          {...(run.data === undefined
            ? {}
            : {
                badge: <StateBadge state={stateOf(run.data)} />,
                actions: <Actions run={run.data} projectId={projectId} />,
              })}
        />
      </div>
      <Await of={run} skeleton={<RunSkeleton />} errorTitle="This run could not be read">
        {(detail) => (
          <>
            <PrintHead run={detail} />
            <Nearby run={detail} />
            <Detail run={detail} status={status} live={live} />
          </>
        )}
      </Await>
    </>
  );
}

/** Adds to a print the facts that the page shows around the result. */
function PrintHead({ run }: { readonly run: Shape<'RunDetail'> }) {
  const at = new Date(run.finishedAt ?? run.startedAt ?? run.createdAt);
  return (
    <header className="mb-6 hidden border-b border-edge pb-3 print:block">
      <p className="text-xl font-semibold text-ink">{run.routineName}</p>
      <p className="text-sm text-muted">
        {[exactTime(at), `Version ${versionOf(run)}`, ...(run.model === null ? [] : [run.model.modelId])].join(' · ')}
      </p>
    </header>
  );
}

/** Marks the result of a run as read once a reader sees it. */
function useMarkedRead(run: Shape<'RunDetail'> | undefined): void {
  const mark = useSend('post', '/v1/results/read', {
    refreshes: ['/v1/results'],
    showsError: true,
  });
  const runId = run?.state === 'succeeded' || run?.state === 'failed' ? run.id : undefined;
  const markRead = useEffectEvent((id: string) => mark.send({ body: { runIds: [id] } }));
  useEffect(() => {
    if (runId !== undefined) markRead(runId);
  }, [runId]);
}

function stateOf(run: Shape<'RunDetail'>): string {
  return !isOver(run) && run.cancelRequestedAt !== null ? 'cancelling' : badgeOf(run);
}

interface DetailProps {
  readonly run: Shape<'RunDetail'>;
  readonly status: FollowStatus | undefined;
  readonly live: string | undefined;
}

function Detail({ run, status, live }: DetailProps) {
  // A table takes the whole width, so the facts of the run move below it.
  const isTable = run.data != null;
  return (
    <div className={cx('grid grid-cols-1 gap-x-10 gap-y-8', !isTable && 'lg:grid-cols-[minmax(0,1fr)_16rem]')}>
      <div className="min-w-0">
        <Verdict run={run} status={status} isWriting={live !== undefined} />
        {run.state === 'succeeded' && run.trigger === 'manual' && <ActivationOffer routineId={run.routineId} />}
        {run.contentErasedAt !== null && (
          <Notice className="mt-4">
            <span>
              The texts of this run were erased <Time at={run.contentErasedAt} as="relative" />, because the project
              keeps texts only for a time. The cost and the outcome stay on record.
            </span>
          </Notice>
        )}
        <Asked run={run} />
        {live !== undefined && (
          <div className="mt-6">
            <LiveText text={live} />
          </div>
        )}
        <Rehearsal run={run} />
        <AskedQuestions run={run} />
        <HeldCalls run={run} />
        <Result run={run} />
        {isOver(run) && run.result !== null && run.followsUp === null && (
          <>
            <Opinion run={run} />
            <Questions run={run} />
          </>
        )}
        <div className="mt-8 print:hidden">
          <Steps run={run} />
          <Prompt run={run} />
          <ChatDeliveries run={run} />
          <Deliveries run={run} />
          <Notifications run={run} />
        </div>
      </div>
      <aside
        className={cx(
          'min-w-0 max-lg:border-t max-lg:border-line max-lg:pt-6 print:hidden',
          isTable && 'border-t border-line pt-6 lg:columns-2 lg:gap-x-10 lg:*:break-inside-avoid',
        )}
        aria-label="About this run"
      >
        <Facts run={run} />
        <Checks run={run} />
        <Gate gate={run.gate} />
        {isOver(run) && run.state !== 'skipped' && <LastGood run={run} />}
      </aside>
    </div>
  );
}

/** Shows the verdicts of the routine's checks. Code, and not a model, checks the result. */
function Checks({ run }: { readonly run: Shape<'RunDetail'> }) {
  if (run.checks.length === 0) return null;
  return (
    <section className="mt-6" aria-labelledby="checks">
      <h2 id="checks" className="mb-2 text-sm font-semibold text-ink">
        Checks
      </h2>
      <ul className="flex flex-col gap-2">
        {run.checks.map(({ type, passed, detail }, index) => (
          <li key={`${type}-${index}`} className="flex gap-2">
            {passed ? (
              <Check aria-hidden className="mt-0.5 size-4 shrink-0 text-good" />
            ) : (
              <X aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
            )}
            <div className="min-w-0">
              <p className="text-sm text-ink">
                {humanize(type)}
                <span className="sr-only">{passed ? ', passed' : ', failed'}</span>
              </p>
              <p className="text-xs text-muted wrap-anywhere">{detail}</p>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Shows the input of the model: the rendered prompt, and the briefing that changes with every run. */
function Prompt({ run }: { readonly run: Shape<'RunDetail'> }) {
  const texts = [
    { label: 'Prompt', note: 'instructions and skills, rendered', text: run.prompt },
    { label: 'Briefing', note: 'date, trigger, tools, limits, last result', text: run.briefing },
  ];
  const given = texts.flatMap(({ text, ...rest }) => (text === null ? [] : [{ ...rest, text }]));
  if (given.length === 0) return null;
  return (
    <Section title="What the model was given">
      <ul className="rounded-lg border border-line bg-surface">
        {given.map(({ label, note, text }) => (
          <li key={label} className="border-b border-line last:border-b-0">
            <TextFold label={label} note={note} text={text} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

function RunSkeleton() {
  return (
    <div className="grid grid-cols-1 gap-x-10 gap-y-8 lg:grid-cols-[minmax(0,1fr)_16rem]">
      <div className="flex flex-col gap-8">
        <Box>
          <Skeleton className="mb-3 h-5 w-32" />
          <Skeleton className="w-3/4" />
        </Box>
        <Box>
          <SkeletonText lines={5} />
        </Box>
        <SkeletonRows rows={4} />
      </div>
      <div className="flex flex-col gap-3.5">
        {['w-40', 'w-32', 'w-24', 'w-44', 'w-16', 'w-28'].map((width) => (
          <Skeleton key={width} className={width} />
        ))}
      </div>
    </div>
  );
}
