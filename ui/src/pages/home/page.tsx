import { getRouteApi } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useRead } from '#ui/api/read.ts';
import { ButtonLink } from '#ui/parts/button.tsx';
import { PageHeader } from '#ui/parts/page.tsx';
import { Attention } from './attention.tsx';
import { Checklist } from './checklist.tsx';
import { News } from './news.tsx';
import { headlineOf } from './brief.ts';
import { projectOf, UNREAD } from './reads.ts';
import { Spend } from './spend.tsx';
import { Upcoming } from './upcoming.tsx';
import { useBrief } from './use-brief.ts';
import { Week } from './week.tsx';

const { useParams } = getRouteApi('/account/p/$projectId/');

/** Shows problems, new results, the past week, coming runs and spending. */
export function HomePage() {
  const { projectId } = useParams();
  const project = useRead(...projectOf(projectId));
  return (
    <>
      <PageHeader
        title="Home"
        description={<Headline />}
        actions={
          <ButtonLink kind="primary" icon={Plus} to="/p/$projectId/routines/new" params={{ projectId }}>
            New routine
          </ButtonLink>
        }
      />
      {/* The steps are for the person's own project, not for the demo. */}
      {project.data?.isDemo === false && <Checklist key={projectId} projectId={projectId} />}
      <div className="grid grid-cols-1 gap-x-10 gap-y-8 lg:grid-cols-[minmax(0,1fr)_18rem]">
        <div className="min-w-0">
          <Attention projectId={projectId} />
          <News projectId={projectId} />
          <Week projectId={projectId} />
          <Upcoming projectId={projectId} />
        </div>
        <div className="min-w-0">
          <Spend projectId={projectId} />
        </div>
      </div>
    </>
  );
}

function Headline() {
  const { list, attention, brief } = useBrief();
  const unread = useRead(...UNREAD);
  if (list.data === undefined || attention.data === undefined || unread.data === undefined) return '\u00a0';
  const { truncated: _, ...kinds } = attention.data;
  return headlineOf({
    needs: brief.urgent.length + Object.values(kinds).flat().length,
    fresh: brief.fresh.length,
    over: brief.over.length,
    quiet: unread.data.unchangedRoutines,
    more: list.hasMore,
  });
}
