import { getRouteApi } from '@tanstack/react-router';
import { useList, useRead } from '#ui/api/read.ts';
import { useProjectId } from '#ui/api/project.ts';
import type { Shape } from '#ui/api/types.ts';
import { listInWords, materialAmong } from '#ui/parts/routine-fields.ts';
import { cx } from '#ui/parts/cx.ts';
import { Await } from '#ui/parts/feedback.tsx';
import { PageHeader } from '#ui/parts/page.tsx';
import { Pager } from '#ui/parts/pager.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { Badge } from '#ui/parts/state.tsx';
import { Time } from '#ui/parts/time.tsx';
import { VersionDetail } from './version-detail.tsx';

const { useParams, useSearch, useNavigate } = getRouteApi('/account/p/$projectId/routines/$routineId/versions');

type Summary = Shape<'RoutineVersionSummary'>;

/** Shows each change with its author, and offers to restore a version. */
export function VersionsPage() {
  const projectId = useProjectId();
  const { routineId } = useParams();
  const { revision } = useSearch();
  const navigate = useNavigate();
  const routine = useRead('/v1/routines/{routineId}', { path: { routineId } });
  const versions = useList('/v1/routines/{routineId}/versions', {
    path: { routineId },
    query: { limit: 100 },
  });
  return (
    <>
      <PageHeader
        title="Versions"
        documentTitle={`Versions of ${routine.data?.name ?? 'a routine'}`}
        description="Each change to the work of a routine makes a version. A run executes the version that was current when the run was made."
        back={{
          label: routine.data?.name ?? 'Routine',
          link: { to: '/p/$projectId/routines/$routineId', params: { projectId, routineId } },
        }}
      />
      <Await of={versions} skeleton={<SkeletonRows rows={4} />} errorTitle="The versions could not be read">
        {(all) => {
          const shown = all.find((each) => String(each.revision) === revision) ?? all[0];
          return (
            <div className="grid gap-x-8 gap-y-6 lg:grid-cols-[18rem_minmax(0,1fr)]">
              <div>
                <VersionList
                  versions={all}
                  shown={shown?.revision}
                  current={routine.data?.revision}
                  onShow={(next) => void navigate({ search: { revision: String(next) }, replace: true })}
                />
                <Pager list={versions} />
              </div>
              {shown !== undefined && (
                <VersionDetail
                  key={shown.revision}
                  routineId={routineId}
                  version={shown}
                  isCurrent={shown.revision === routine.data?.revision}
                  isArchived={routine.data?.state === 'archived'}
                  state={routine.data?.state}
                />
              )}
            </div>
          );
        }}
      </Await>
    </>
  );
}

function VersionList({
  versions,
  shown,
  current,
  onShow,
}: {
  versions: readonly Summary[];
  shown: number | undefined;
  current: number | undefined;
  onShow: (revision: number) => void;
}) {
  return (
    <ol aria-label="Versions" className="flex flex-col gap-px">
      {versions.map((version) => (
        <li key={version.revision}>
          <button
            type="button"
            aria-current={version.revision === shown || undefined}
            onClick={() => onShow(version.revision)}
            className={cx(
              'ring-inside flex w-full flex-col rounded-md px-3 py-2 text-left',
              version.revision === shown ? 'bg-hover' : 'hover:bg-hover',
            )}
          >
            <span className="flex items-center gap-2 text-base font-medium text-ink">
              Version {version.revision}
              {version.revision === current && <Badge>Current</Badge>}
            </span>
            <span className="text-sm text-muted">{changeInWords(version)}</span>
            <span className="text-xs text-faint">
              <Time at={version.createdAt} /> <By author={version.createdBy} />
            </span>
          </button>
        </li>
      ))}
    </ol>
  );
}

function changeInWords({ changed, restoredFrom }: Summary): string {
  const what = listInWords(materialAmong(changed));
  if (restoredFrom !== null) return `Restored version ${restoredFrom}`;
  return what === '' ? 'The first on record' : `Changed ${what}`;
}

function By({ author }: { readonly author: Summary['createdBy'] }) {
  if (author === null) return 'by the service';
  if (author.kind === 'key') {
    return author.name === null ? 'by a deleted API key' : `by the API key ${author.name}`;
  }
  return `by ${author.name ?? 'a deleted account'}`;
}
