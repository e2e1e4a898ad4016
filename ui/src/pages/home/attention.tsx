import { CircleCheck } from 'lucide-react';
import { useState } from 'react';
import type { Shape } from '#ui/api/types.ts';
import { RUN_AGAIN } from '#ui/api/verbs/runs.ts';
import { useVerb } from '#ui/api/verbs/verb.ts';
import { Button } from '#ui/parts/button.tsx';
import { cx } from '#ui/parts/cx.ts';
import { Await } from '#ui/parts/feedback.tsx';
import { Section } from '#ui/parts/page.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';
import { Behind, Budget, Failed, Held, Question, SignIn, Stopped, WithoutTools } from './attention-entries.tsx';
import type { Brief } from './brief.ts';
import { ResultRow } from './result-row.tsx';
import { useBrief, useMarkRead } from './use-brief.ts';

type All = Shape<'Attention'>;

/**
 * Lists held calls, questions and urgent results, then problems of the project, each with the action that solves it.
 */
export function Attention({ projectId }: { readonly projectId: string }) {
  const { attention, list, brief } = useBrief();
  return (
    <Section
      title="Needs you"
      actions={
        attention.data?.failed.length !== 0 && (
          <TextLink to="/p/$projectId/runs" params={{ projectId }} search={{ state: 'failed' }}>
            All failed runs
          </TextLink>
        )
      }
    >
      <Await
        of={{
          data: list.isPending ? undefined : attention.data,
          error: attention.error,
          refetch: attention.refetch,
        }}
        skeleton={<SkeletonRows rows={2} />}
        errorTitle="What needs attention could not be read"
      >
        {(all) => <Entries all={all} urgent={brief.urgent} projectId={projectId} />}
      </Await>
    </Section>
  );
}

interface EntriesProps {
  readonly all: All;
  readonly urgent: Brief['urgent'];
  readonly projectId: string;
}

function Entries({ all, urgent, projectId }: EntriesProps) {
  const { held, stopped, signIns, failed, withoutTools, budgets, skillsBehind, questions, truncated } = all;
  const mark = useMarkRead();
  const again = useVerb(RUN_AGAIN);
  const [isLong, setLong] = useState(false);
  const rows = [
    ...held.map((each) => <Held key={`${each.runId} held`} of={each} projectId={projectId} />),
    ...questions.map((each) => <Question key={each.id} of={each} projectId={projectId} />),
    ...urgent.filter(mark.isShown).map((group) => {
      const runIds = group.map(({ runId }) => runId);
      const onRead = () => mark.read({ runIds }, { runIds });
      return <ResultRow key={runIds[0]} results={group} projectId={projectId} onRead={onRead} again={again} />;
    }),
    ...stopped.map((each) => <Stopped key={each.routineId} of={each} projectId={projectId} />),
    ...signIns.map((each) => <SignIn key={each.id} of={each} projectId={projectId} />),
    ...budgets.map((each) => <Budget key={`${each.scopeId} ${each.limit}`} of={each} projectId={projectId} />),
    ...failed.map((each) => <Failed key={`${each.routineId} failed`} of={each} projectId={projectId} />),
    ...withoutTools.map((each) => <WithoutTools key={`${each.routineId} tools`} of={each} projectId={projectId} />),
    ...skillsBehind.map((each) => <Behind key={`${each.routineId} behind`} of={each} projectId={projectId} />),
  ];
  const shown = isLong ? rows : rows.slice(0, FIRST);
  if (rows.length === 0) return <AllWell />;
  return (
    <>
      <ul className="-mx-2 border-t border-line empty:hidden">{shown}</ul>
      {rows.length > shown.length && (
        <Button size="sm" className="mt-2" onClick={() => setLong(true)}>
          Show {rows.length - shown.length} more
        </Button>
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

/** Number of entries shown at first, so that the week and the next runs are not far below. */
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
