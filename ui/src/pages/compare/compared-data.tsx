import { lazy } from 'react';
import { useRead } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { count } from '#ui/format/numbers.ts';
import { Await } from '#ui/parts/feedback.tsx';
import { Lazily } from '#ui/parts/lazily.tsx';
import { Section } from '#ui/parts/page.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';

const TypedData = lazy(() => import('#ui/parts/typed-data.tsx'));
const SideBySide = lazy(() => import('#ui/parts/side-by-side.tsx'));

export interface ComparedDataProps {
  readonly before: Shape<'RunDetail'>;
  readonly after: Shape<'RunDetail'>;
}

/**
 * Shows the data of two runs by key: the later one as a table, whose rows show the differences from the earlier one.
 */
export function ComparedData({ before, after }: ComparedDataProps) {
  const { routineId, routineRevision: revision } = after;
  const version = useRead(
    '/v1/routines/{routineId}/versions/{revision}',
    { path: { routineId, revision } },
    { staleMs: 600_000 },
  );
  const diff = useRead(
    '/v1/runs/{runId}/diff',
    { path: { runId: after.id }, query: { against: before.id } },
    { staleMs: 600_000 },
  );
  const skeleton = <SkeletonRows rows={4} />;
  return (
    <Section title="Data" {...(diff.data === undefined ? {} : { description: wordsOf(diff.data) })}>
      <Await of={diff} skeleton={skeleton} errorTitle="The data could not be compared">
        {(changes) => (
          <Lazily skeleton={skeleton}>
            {changes.by === null ? (
              <SideBySide
                label="Differences of the data"
                before={JSON.stringify(before.data, null, 2)}
                after={JSON.stringify(after.data, null, 2)}
              />
            ) : (
              <TypedData data={after.data} schema={version.data?.resultSchema} changes={changes} />
            )}
          </Lazily>
        )}
      </Await>
    </Section>
  );
}

function wordsOf({ counts: { added, removed, changed }, by }: Shape<'RunDiff'>): string {
  if (added + removed + changed === 0) return 'Both runs have the same data.';
  if (by === null) return 'The data is compared as a whole.';
  return `${count(added)} added, ${count(removed)} removed, ${count(changed)} changed.`;
}
