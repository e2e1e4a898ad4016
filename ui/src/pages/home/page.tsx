import { getRouteApi } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { ButtonLink } from '#ui/parts/button.tsx';
import { PageHeader } from '#ui/parts/page.tsx';
import { Attention } from './attention.tsx';
import { Checklist } from './checklist.tsx';
import { Spend } from './spend.tsx';
import { Upcoming } from './upcoming.tsx';

const { useParams } = getRouteApi('/account/p/$projectId/');

/** Shows what needs attention, what comes next and what it costs. */
export function HomePage() {
  const { projectId } = useParams();
  return (
    <>
      <PageHeader
        title="Home"
        actions={
          <ButtonLink
            kind="primary"
            icon={Plus}
            to="/p/$projectId/routines/new"
            params={{ projectId }}
          >
            New routine
          </ButtonLink>
        }
      />
      <Checklist projectId={projectId} />
      <div className="grid grid-cols-1 gap-x-10 gap-y-8 lg:grid-cols-[minmax(0,1fr)_18rem]">
        <div className="min-w-0">
          <Attention projectId={projectId} />
          <Upcoming projectId={projectId} />
        </div>
        <div className="min-w-0">
          <Spend projectId={projectId} />
        </div>
      </div>
    </>
  );
}
