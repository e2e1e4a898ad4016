import { getRouteApi } from '@tanstack/react-router';
import { ArrowLeftRight } from 'lucide-react';
import { lazy, type ComponentType } from 'react';
import { bothOf, useRead } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { isOver } from '#ui/format/run-words.ts';
import { IconButton } from '#ui/parts/button.tsx';
import { Await, EmptyState, Notice } from '#ui/parts/feedback.tsx';
import { Lazily } from '#ui/parts/lazily.tsx';
import { PageHeader, Section } from '#ui/parts/page.tsx';
import type { SideBySideProps } from '#ui/parts/side-by-side.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { ComparedData } from './compared-data.tsx';
import { ComparedFacts } from './compared-facts.tsx';
import { RunChoice } from './run-choice.tsx';

const { useParams, useSearch, useNavigate } = getRouteApi('/account/p/$projectId/runs/$runId/compare');

const ComparedDocument = lazy(() => import('#ui/parts/compared-document.tsx'));
const SideBySide = lazy(() => import('#ui/parts/side-by-side.tsx'));

/** Shows two runs of a routine side by side; the address names both. */
export function ComparePage() {
  const { projectId, runId } = useParams();
  const { against } = useSearch();
  const navigate = useNavigate();
  const run = useRead('/v1/runs/{runId}', { path: { runId } });
  // Without a choice, compare the run with the previous result, or else with the next one.
  const otherId = against ?? run.data?.previousResultId ?? run.data?.nextResultId ?? undefined;
  const other = useRead('/v1/runs/{runId}', { path: { runId: otherId ?? '' } }, { enabled: otherId !== undefined });
  const name = run.data?.routineName;
  const open = (nextRunId: string, nextAgainst: string | undefined) =>
    void navigate({
      to: '/p/$projectId/runs/$runId/compare',
      params: { projectId, runId: nextRunId },
      search: { against: nextAgainst },
    });
  return (
    <>
      <PageHeader
        title="Compare two runs"
        documentTitle={name === undefined ? 'Compare two runs' : `${name}, two runs`}
        {...(name === undefined ? {} : { description: name })}
        back={{
          label: 'Run',
          link: { to: '/p/$projectId/runs/$runId', params: { projectId, runId } },
        }}
      />
      {run.data !== undefined && (
        <div className="mb-6 flex flex-wrap items-end gap-2">
          <RunChoice
            label="Before"
            routineId={run.data.routineId}
            chosen={other.data}
            onChoose={(id) => open(runId, id)}
          />
          <IconButton
            icon={ArrowLeftRight}
            label="Swap the two runs"
            disabledReason={otherId === undefined ? 'Choose another run first.' : undefined}
            onClick={() => {
              if (otherId !== undefined) open(otherId, runId);
            }}
          />
          <RunChoice
            label="After"
            routineId={run.data.routineId}
            chosen={run.data}
            onChoose={(id) => open(id, otherId)}
          />
        </div>
      )}
      {run.data !== undefined && otherId === undefined ? (
        <EmptyState title="There is no other result to compare with">
          Choose another run of the routine above.
        </EmptyState>
      ) : (
        <Await of={bothOf(other, run)} skeleton={<SkeletonRows rows={6} />} errorTitle="The two runs could not be read">
          {([before, after]) => <Comparison before={before} after={after} />}
        </Await>
      )}
    </>
  );
}

interface ComparisonProps {
  readonly before: Shape<'RunDetail'>;
  readonly after: Shape<'RunDetail'>;
}

function Comparison({ before, after }: ComparisonProps) {
  if (before.routineId !== after.routineId) {
    return (
      <EmptyState title="These are runs of two routines">
        {`One run is of ${before.routineName}, the other of ${after.routineName}. Choose two runs of one routine.`}
      </EmptyState>
    );
  }
  if (before.id === after.id) {
    return <EmptyState title="This is the same run twice">Choose another run above.</EmptyState>;
  }
  const isErased = before.contentErasedAt !== null || after.contentErasedAt !== null;
  const isTyped = isThere(before.data) && isThere(after.data);
  return (
    <>
      {isErased && (
        <Notice className="mb-6">
          The texts of {erasedOf(before, after)} were erased, because the project keeps texts only for a time. They
          cannot be compared.
        </Notice>
      )}
      {!(isOver(before) && isOver(after)) && (
        <Notice className="mb-6">A run that has not ended yet is compared as it was when this page read it.</Notice>
      )}
      {isTyped && <ComparedData before={before} after={after} />}
      {!isTyped && <Texts title="Result" shownBy={ComparedDocument} before={before.result} after={after.result} />}
      <ComparedFacts before={before} after={after} />
      <Texts title="Prompt" shownBy={SideBySide} before={before.prompt} after={after.prompt} />
    </>
  );
}

function isThere(data: unknown): boolean {
  return data !== null && data !== undefined;
}

function erasedOf(before: Shape<'RunDetail'>, after: Shape<'RunDetail'>): string {
  if (before.contentErasedAt === null) return 'the later run';
  return after.contentErasedAt === null ? 'the earlier run' : 'both runs';
}

interface TextsProps {
  readonly title: string;
  /** Shows a result as readers see it, and a prompt as the model sees it. */
  readonly shownBy: ComponentType<SideBySideProps>;
  readonly before: string | null;
  readonly after: string | null;
}

/** Shows how a text changed; nothing if neither run has the text. */
function Texts({ title, shownBy: Differences, before, after }: TextsProps) {
  if (before === null && after === null) return null;
  const missing = before === null ? 'The first run has none.' : after === null ? 'The second run has none.' : undefined;
  return (
    <Section title={title}>
      {missing !== undefined || before === null || after === null ? (
        <p className="text-base text-muted">{missing}</p>
      ) : before === after ? (
        <p className="text-base text-muted">Both runs have the same text.</p>
      ) : (
        <Lazily skeleton={<SkeletonRows rows={4} />}>
          <Differences label={`Differences of the ${title.toLowerCase()}`} before={before} after={after} />
        </Lazily>
      )}
    </Section>
  );
}
