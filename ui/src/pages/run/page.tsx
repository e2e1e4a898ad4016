import { getRouteApi } from '@tanstack/react-router';
import { Await, Notice } from '#ui/parts/feedback.tsx';
import { PageHeader } from '#ui/parts/page.tsx';
import { Time } from '#ui/parts/time.tsx';
import { StateBadge } from '#ui/parts/state.tsx';
import type { Shape } from '#ui/api/types.ts';
import type { FollowStatus } from '#ui/api/follow.ts';
import { badgeOf, isOver } from '#ui/format/run-words.ts';
import { Actions } from './actions.tsx';
import { Checks } from './checks.tsx';
import { Data } from './data.tsx';
import { Deliveries } from './deliveries.tsx';
import { Facts } from './facts.tsx';
import { useFollowedRun } from './followed-run.ts';
import { Gate } from './gate.tsx';
import { LastGood } from './last-good.tsx';
import { Notifications } from './notifications.tsx';
import { Prompt } from './prompt.tsx';
import { Result } from './result.tsx';
import { RunSkeleton } from './skeleton.tsx';
import { Steps } from './steps.tsx';
import { Verdict } from './verdict.tsx';

const { useParams } = getRouteApi('/account/p/$projectId/runs/$runId');

export function RunPage() {
  const { projectId, runId } = useParams();
  return <Run key={runId} projectId={projectId} runId={runId} />;
}

function Run({ projectId, runId }: { projectId: string; runId: string }) {
  const { run, status } = useFollowedRun(runId);
  const back = {
    label: 'Runs',
    link: { to: '/p/$projectId/runs', params: { projectId } },
  } as const;
  return (
    <>
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
      <Await of={run} skeleton={<RunSkeleton />} errorTitle="This run could not be read">
        {(detail) => <Detail run={detail} status={status} />}
      </Await>
    </>
  );
}

function stateOf(run: Shape<'RunDetail'>): string {
  return !isOver(run) && run.cancelRequestedAt !== null ? 'cancelling' : badgeOf(run);
}

interface DetailProps {
  readonly run: Shape<'RunDetail'>;
  readonly status: FollowStatus | undefined;
}

function Detail({ run, status }: DetailProps) {
  return (
    <div className="grid grid-cols-1 gap-x-10 gap-y-8 lg:grid-cols-[minmax(0,1fr)_16rem]">
      <div className="min-w-0">
        <Verdict run={run} status={status} />
        {run.contentErasedAt !== null && (
          <Notice className="mt-4">
            <span>
              Its texts were erased <Time at={run.contentErasedAt} as="relative" />, as the project
              keeps them only so long. What it cost and how it ended stay on record.
            </span>
          </Notice>
        )}
        <Result run={run} />
        <Data run={run} />
        <Steps run={run} />
        <Prompt run={run} />
        <Deliveries run={run} />
        <Notifications run={run} />
      </div>
      <aside
        className="min-w-0 max-lg:border-t max-lg:border-line max-lg:pt-6"
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
