import { useProjectId } from '#ui/api/project.ts';
import { useList } from '#ui/api/read.ts';
import { drawn } from '#ui/format/drawn.ts';
import { AskedQuestion } from '#ui/parts/asked-question.tsx';
import { Await } from '#ui/parts/feedback.tsx';
import { Section } from '#ui/parts/page.tsx';
import { Pager } from '#ui/parts/pager.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';
import { Time } from '#ui/parts/time.tsx';

/** Lists the open questions of runs, each with the ways to answer it. */
export function Questions() {
  const projectId = useProjectId();
  const asked = useList('/v1/questions', { query: { state: 'open', limit: 50 } }, { everyMs: 15_000 });
  if (asked.data?.length === 0) return null;
  return (
    <Section
      title="Questions"
      description="Their runs went on without the answer; later runs are told it."
      className="mb-8"
    >
      <Await of={asked} skeleton={<SkeletonRows rows={1} />} errorTitle="The questions could not be read">
        {(questions) => (
          <ul className="flex flex-col gap-3">
            {questions.map((question) => (
              <li key={question.id} className="rounded-lg border border-line bg-surface px-4 py-3">
                <p className="mb-1 flex flex-wrap items-center justify-between gap-x-4 text-sm">
                  <TextLink to="/p/$projectId/runs/$runId" params={{ projectId, runId: question.lastRunId }}>
                    {drawn(question.routineName)}
                  </TextLink>
                  <Time at={question.lastAskedAt} as="relative" className="text-muted" />
                </p>
                <AskedQuestion of={question} />
              </li>
            ))}
          </ul>
        )}
      </Await>
      <Pager list={asked} />
    </Section>
  );
}
