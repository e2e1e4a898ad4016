import { CheckCheck, Inbox } from 'lucide-react';
import { useState } from 'react';
import { useList, useRead } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { RUN_AGAIN } from '#ui/api/verbs/runs.ts';
import { useVerb } from '#ui/api/verbs/verb.ts';
import { count, plural } from '#ui/format/numbers.ts';
import { Button } from '#ui/parts/button.tsx';
import { Await, EmptyState } from '#ui/parts/feedback.tsx';
import { Fold } from '#ui/parts/fold.tsx';
import { Kbd } from '#ui/parts/kbd.tsx';
import { Section } from '#ui/parts/page.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';
import { UNREAD } from './reads.ts';
import { groupsOf } from './brief.ts';
import { ResultRow, ShortRows } from './result-row.tsx';
import { useRowKeys } from './row-keys.ts';
import { useBrief, useMarkRead } from './use-brief.ts';

type Unread = Shape<'UnreadResults'>;

const REFRESH = { everyMs: 15_000 } as const;
/** Number of routines shown at first, so that the sections below stay near. */
const FIRST = 8;

/** Shows new results since the last visit, the most important first. */
export function News({ projectId }: { readonly projectId: string }) {
  const unread = useRead(...UNREAD, REFRESH);
  const { brief } = useBrief();
  const mark = useMarkRead();
  const until = unread.data?.until ?? null;
  return (
    <Section
      title={
        <>
          New results
          {brief.fresh.length > 0 && (
            <span className="ml-2 font-normal text-muted tabular">{count(brief.fresh.length)}</span>
          )}
        </>
      }
      actions={
        until !== null && (
          <Button
            size="sm"
            className="-my-1"
            icon={CheckCheck}
            busy={mark.isSending}
            onClick={() => mark.read({ until }, { since: unread.data?.readUntil ?? null })}
          >
            Mark all as read
          </Button>
        )
      }
    >
      <Await of={unread} skeleton={<SkeletonRows rows={3} />} errorTitle="The results could not be read">
        {(counts) => (
          <>
            {counts.worthReading > 0 && <WorthReading projectId={projectId} />}
            {counts.worthReading === 0 && <NothingNew counts={counts} projectId={projectId} />}
            {counts.unchanged > 0 && <Unchanged counts={counts} projectId={projectId} />}
            {(counts.worthReading > 0 || counts.unchanged > 0 || counts.readUntil !== null) && (
              <Fold className="mt-2 -ml-3" summary={<span className="text-sm text-muted">What you have read</span>}>
                <ResultList projectId={projectId} unread="false" />
              </Fold>
            )}
          </>
        )}
      </Await>
    </Section>
  );
}

function WorthReading({ projectId }: { readonly projectId: string }) {
  const { list, brief } = useBrief();
  const mark = useMarkRead();
  const again = useVerb(RUN_AGAIN);
  const [isLong, setLong] = useState(false);
  // Mark earlier results of the same routine too, because the row represents them.
  const read = (runId: string) => {
    const group = groupsOf(list.data ?? []).find(([latest]) => latest.runId === runId) ?? [];
    const runIds = group.map((result) => result.runId);
    mark.read({ runIds }, { runIds });
  };
  const shown = [...brief.fresh, ...brief.over].filter(mark.isShown);
  useRowKeys({
    e: read,
    [RUN_AGAIN.key]: (id) => again.act({ id }),
  });
  return (
    <Await of={list} skeleton={<SkeletonRows rows={3} />} errorTitle="The results could not be read">
      {() => (
        <>
          <ul className="-mx-2 border-t border-line empty:hidden">
            {shown.slice(0, isLong ? undefined : FIRST).map((group) => (
              <ResultRow
                key={group[0].routineId}
                results={group}
                projectId={projectId}
                onRead={() => read(group[0].runId)}
                again={again}
              />
            ))}
          </ul>
          {shown.length === 0 && <p className="text-sm text-muted">Everything new is above.</p>}
          <div className="mt-2 flex flex-wrap items-center justify-between gap-3">
            <p className="flex flex-wrap items-center gap-1.5 text-xs text-faint max-sm:hidden">
              <Kbd>J</Kbd> <Kbd>K</Kbd> next and previous <Kbd>E</Kbd> mark as read <Kbd>A</Kbd> run again
            </p>
            {!isLong && shown.length > FIRST ? (
              <Button size="sm" onClick={() => setLong(true)}>
                Show more
              </Button>
            ) : (
              list.hasMore && (
                <Button size="sm" busy={list.isLoadingMore} onClick={list.loadMore}>
                  Show more
                </Button>
              )
            )}
          </div>
        </>
      )}
    </Await>
  );
}

/** Says that everything is read, and names the latest result. */
function NothingNew({ counts, projectId }: { counts: Unread; projectId: string }) {
  const latest = useRead('/v1/results', { query: { limit: 5 } }, REFRESH);
  return (
    <Await of={latest} skeleton={<SkeletonRows rows={2} />} errorTitle="Results could not be read">
      {(results) =>
        results.length === 0 ? (
          <EmptyState icon={Inbox} title="No results yet">
            Results of your routines appear here, the newest first.
          </EmptyState>
        ) : (
          counts.unchanged === 0 && (
            <>
              <p className="mb-2 text-sm text-muted">You have read everything. The last results:</p>
              <ShortRows results={results} projectId={projectId} />
            </>
          )
        )
      }
    </Await>
  );
}

/** Folds the results that say nothing new into one line. */
function Unchanged({ counts, projectId }: { counts: Unread; projectId: string }) {
  return (
    <Fold
      className="mt-2 -ml-3"
      summary={
        <span className="text-sm text-muted">
          {plural(counts.unchangedRoutines, 'routine')} had nothing new
          {counts.unchanged > counts.unchangedRoutines &&
            `, in ${counts.more ? 'over ' : ''}${plural(counts.unchanged, 'run')}`}
        </span>
      }
    >
      <ResultList projectId={projectId} unread="true" />
    </Fold>
  );
}

/** Lists unread results without news, or read results with news. */
function ResultList({ projectId, unread }: { readonly projectId: string; readonly unread: 'true' | 'false' }) {
  const worthReading = unread === 'true' ? 'false' : 'true';
  const list = useList('/v1/results', { query: { unread, worthReading, limit: 20 } });
  return (
    <Await of={list} skeleton={<SkeletonRows rows={2} />} errorTitle="Results could not be read">
      {(results) => (
        <>
          {results.length === 0 && <p className="text-sm text-muted">Nothing yet.</p>}
          <ShortRows results={results} projectId={projectId} />
          {list.hasMore && (
            <p className="text-sm text-muted">
              These are the newest results.{' '}
              <TextLink to="/p/$projectId/runs" params={{ projectId }}>
                All runs
              </TextLink>
            </p>
          )}
        </>
      )}
    </Await>
  );
}
