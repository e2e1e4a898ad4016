import { CircleCheck } from 'lucide-react';
import { useState } from 'react';
import { useList, useRead } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { Button } from '#ui/parts/button.tsx';
import { cx } from '#ui/parts/cx.ts';
import { Await } from '#ui/parts/feedback.tsx';
import { Section } from '#ui/parts/page.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';
import { Behind, Budget, Failed, SignIn, Stopped, WithoutTools } from './attention-entries.tsx';
import { ATTENTION, NEWS } from './reads.ts';
import { groupsOf } from './result-groups.ts';

type All = Shape<'Attention'>;

/**
 * Lists problems of the project, each with the action that solves it. A failure that the reader has not seen is among
 * the new results, and moves here once it is read.
 */
export function Attention({ projectId }: { readonly projectId: string }) {
  const attention = useRead(...ATTENTION, { everyMs: 15_000 });
  const news = useList(...NEWS);
  return (
    <Section
      title="Needs attention"
      actions={
        attention.data?.failed.length !== 0 && (
          <TextLink to="/p/$projectId/runs" params={{ projectId }} search={{ state: 'failed' }}>
            All failed runs
          </TextLink>
        )
      }
    >
      <Await
        // Without the news it is better to name a failure twice than never.
        of={{
          data: news.isPending ? undefined : attention.data,
          error: attention.error,
          refetch: attention.refetch,
        }}
        skeleton={<SkeletonRows rows={2} />}
        errorTitle="What needs attention could not be read"
      >
        {(all) => <Entries all={all} above={failedOf(news.data ?? [])} projectId={projectId} />}
      </Await>
    </Section>
  );
}

/** Returns the routines whose latest new result is a failure. */
function failedOf(news: readonly Shape<'Result'>[]): ReadonlySet<string> {
  const failed = groupsOf(news).filter(([{ kind }]) => kind === 'failed');
  return new Set(failed.map(([{ routineId }]) => routineId));
}

interface EntriesProps {
  readonly all: All;
  /** Routines whose failure is shown above, among the new results. */
  readonly above: ReadonlySet<string>;
  readonly projectId: string;
}

function Entries({ all, above, projectId }: EntriesProps) {
  const { stopped, signIns, withoutTools, budgets, skillsBehind, truncated } = all;
  const [isLong, setLong] = useState(false);
  const failed = all.failed.filter(({ routineId }) => !above.has(routineId));
  const rows = [
    ...stopped.map((each) => <Stopped key={each.routineId} of={each} projectId={projectId} />),
    ...signIns.map((each) => <SignIn key={each.id} of={each} projectId={projectId} />),
    ...budgets.map((each) => <Budget key={`${each.scopeId} ${each.limit}`} of={each} projectId={projectId} />),
    ...failed.map((each) => <Failed key={`${each.routineId} failed`} of={each} projectId={projectId} />),
    ...withoutTools.map((each) => <WithoutTools key={`${each.routineId} tools`} of={each} projectId={projectId} />),
    ...skillsBehind.map((each) => <Behind key={`${each.routineId} behind`} of={each} projectId={projectId} />),
  ];
  const shown = isLong ? rows : rows.slice(0, FIRST);
  const hidden = all.failed.length - failed.length;
  if (rows.length === 0 && hidden === 0) return <AllWell />;
  return (
    <>
      <ul className="border-t border-line empty:hidden">{shown}</ul>
      {rows.length > shown.length && (
        <Button size="sm" className="mt-2" onClick={() => setLong(true)}>
          Show {rows.length - shown.length} more
        </Button>
      )}
      {hidden > 0 && (
        <p className={rows.length === 0 ? BOXED : 'mt-2 text-sm text-muted'}>
          {hidden === 1 ? 'A failure stands' : `${hidden} failures stand`} among the new results above.
        </p>
      )}
      {truncated && (
        <p className="mt-2 text-sm text-muted">
          There is more, among the{' '}
          <TextLink to="/p/$projectId/routines" params={{ projectId }} search={{ state: 'stopped' }}>
            stopped routines
          </TextLink>{' '}
          or the{' '}
          <TextLink to="/p/$projectId/runs" params={{ projectId }} search={{ state: 'failed' }}>
            failed runs
          </TextLink>
          .
        </p>
      )}
    </>
  );
}

/** Entries that are shown at first: the week and what comes next should not be far below. */
const FIRST = 6;

const BOXED = 'rounded-lg border border-line bg-surface px-4 py-3 text-base text-muted';

function AllWell() {
  return (
    <p className={cx('flex items-center gap-2', BOXED)}>
      <CircleCheck aria-hidden className="size-4 shrink-0 text-good" strokeWidth={1.75} />
      Nothing needs you now.
    </p>
  );
}
