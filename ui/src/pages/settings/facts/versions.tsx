import { useProjectId } from '#ui/api/project.ts';
import { useList, useRead } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { count, plural } from '#ui/format/numbers.ts';
import { ButtonLink } from '#ui/parts/button.tsx';
import { CodeBlock } from '#ui/parts/copy.tsx';
import { Await } from '#ui/parts/feedback.tsx';
import { Fold } from '#ui/parts/fold.tsx';
import { Section } from '#ui/parts/page.tsx';
import { Pager } from '#ui/parts/pager.tsx';
import { Skeleton, SkeletonRows, SkeletonText } from '#ui/parts/skeleton.tsx';
import { TextDiff } from '#ui/parts/lazily.tsx';
import { Time } from '#ui/parts/time.tsx';

type Version = Shape<'FactsVersionSummary'>;

/** Lists the versions of the facts, each with its changes. */
export function Versions() {
  const projectId = useProjectId();
  const versions = useList('/v1/projects/{projectId}/facts/versions', {
    path: { projectId },
    query: { limit: 20 },
  });
  return (
    <Section title="Versions" description="Each run shows which version it was given.">
      <Await of={versions} skeleton={<SkeletonRows rows={2} />} errorTitle="The versions could not be read">
        {(rows) => (
          <ul className="divide-y divide-line rounded-lg border border-line bg-surface">
            {rows.map((row) => (
              <li key={row.version}>
                <Fold summary={<Summary row={row} />}>
                  <Difference version={row.version} />
                </Fold>
              </li>
            ))}
          </ul>
        )}
      </Await>
      <Pager list={versions} />
    </Section>
  );
}

function Summary({ row: { version, length, changes, createdAt, createdBy } }: { row: Version }) {
  const { added, removed } = changes.counts;
  return (
    <span className="flex grow flex-wrap items-center gap-x-3 text-sm">
      <span className="font-medium text-ink">Version {version}</span>
      <span className="text-muted">
        {length === 0 ? 'empty' : `${count(length)} characters`},{' '}
        {added + removed === 0 ? 'only order or spaces' : `${plural(added, 'line')} added, ${count(removed)} removed`}
      </span>
      <span className="ml-auto text-xs text-faint">
        <Time at={createdAt} as="relative" />
        {createdBy?.name != null && <> by {createdBy.name}</>}
      </span>
    </span>
  );
}

function useVersion(factsVersion: number) {
  const path = { projectId: useProjectId(), factsVersion };
  return useRead(
    '/v1/projects/{projectId}/facts/versions/{factsVersion}',
    { path },
    // Keep what was read, because a version never changes.
    { staleMs: 600_000 },
  );
}

function Difference({ version }: { readonly version: number }) {
  const read = useVersion(version);
  return (
    <Await of={read} skeleton={<Skeleton className="h-24" />} errorTitle="The version could not be read">
      {({ text, before }) => {
        const isLost = before === null && version > 1;
        return (
          <>
            {isLost && <p className="text-sm text-muted">The previous version is no longer kept.</p>}
            <TextDiff label={`Version ${version}`} before={isLost ? text : (before ?? '')} after={text} />
          </>
        );
      }}
    </Await>
  );
}

/** Shows one version whole, as runs received it. */
export function OneVersion({ version }: { readonly version: string }) {
  const projectId = useProjectId();
  const read = useVersion(Number(version));
  return (
    <Section
      title={`Project facts, version ${version}`}
      actions={
        <ButtonLink size="sm" to="/p/$projectId/settings" params={{ projectId }} search={{ tab: 'facts' }}>
          Newest version
        </ButtonLink>
      }
    >
      <Await of={read} skeleton={<SkeletonText lines={8} />} errorTitle="The version could not be read">
        {({ text, createdAt, createdBy }) => (
          <>
            <p className="mb-3 text-sm text-muted">
              Saved <Time at={createdAt} />
              {createdBy?.name != null && <> by {createdBy.name}</>}
            </p>
            {text.trim() === '' ? (
              <p className="text-base text-muted">This version is empty.</p>
            ) : (
              <CodeBlock code={text} label="facts" wrap maxHeight="none" />
            )}
          </>
        )}
      </Await>
    </Section>
  );
}
