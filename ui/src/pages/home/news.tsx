import { CheckCheck, Inbox } from 'lucide-react';
import { useEffect, useEffectEvent, useRef, type RefObject } from 'react';
import { useList, useRead } from '#ui/api/read.ts';
import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { drawn } from '#ui/format/drawn.ts';
import { money, plural } from '#ui/format/numbers.ts';
import { reasonOf } from '#ui/format/run-words.ts';
import { Button } from '#ui/parts/button.tsx';
import { cx } from '#ui/parts/cx.ts';
import { Await, EmptyState } from '#ui/parts/feedback.tsx';
import { Fold } from '#ui/parts/fold.tsx';
import { Kbd } from '#ui/parts/kbd.tsx';
import { CHORD_MS, isBusy } from '#ui/parts/keys.ts';
import { Section } from '#ui/parts/page.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { Badge, type Tone } from '#ui/parts/state.tsx';
import { RowLink } from '#ui/parts/table.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';
import { Time } from '#ui/parts/time.tsx';
import { Differences, differencesOf, plainText } from './differences.tsx';

type Result = Shape<'Result'>;
type Unread = Shape<'UnreadResults'>;

const REFRESH = { everyMs: 15_000 } as const;
const PAGE = 20;

const KINDS: Readonly<Record<Result['kind'], readonly [label: string, tone: Tone]>> = {
  failed: ['Failed', 'bad'],
  partial: ['Done in part', 'warn'],
  first: ['First result', 'good'],
  changed: ['Changed', 'busy'],
  unchanged: ['Unchanged', 'idle'],
};

/** Shows what runs have brought since the reader was last here, what is worth reading first. */
export function News({ projectId }: { readonly projectId: string }) {
  const unread = useRead('/v1/results/unread', {}, REFRESH);
  const mark = useSend('post', '/v1/results/read', { refreshes: ['/v1/results'] });
  const until = unread.data?.until ?? null;
  return (
    <Section
      title="New results"
      actions={
        until !== null && (
          <Button
            size="sm"
            icon={CheckCheck}
            busy={mark.isSending}
            onClick={() => mark.send({ body: { until } })}
          >
            Mark all as read
          </Button>
        )
      }
    >
      <Await
        of={unread}
        skeleton={<SkeletonRows rows={3} />}
        errorTitle="The results could not be read"
      >
        {(counts) => (
          <>
            {counts.worthReading > 0 && <WorthReading projectId={projectId} />}
            {counts.worthReading === 0 && <NothingNew counts={counts} projectId={projectId} />}
            {counts.unchanged > 0 && <Unchanged counts={counts} projectId={projectId} />}
          </>
        )}
      </Await>
    </Section>
  );
}

function WorthReading({ projectId }: { readonly projectId: string }) {
  const list = useList(
    '/v1/results',
    { query: { unread: 'true', worthReading: 'true', limit: PAGE } },
    REFRESH,
  );
  const mark = useSend('post', '/v1/results/read', { refreshes: ['/v1/results'] });
  const again = useSend('post', '/v1/runs/{runId}/retry', {
    refreshes: ['/v1/runs', '/v1/routines'],
    done: 'Started again',
  });
  const rows = useRef<HTMLUListElement>(null);
  // With the earlier ones of its routine, which its row stands for.
  const read = (runId: string) => {
    const group = groupsOf(list.data ?? []).find(([latest]) => latest.runId === runId) ?? [];
    mark.send({ body: { runIds: group.map((result) => result.runId) } });
  };
  useRowKeys(rows, {
    e: read,
    a: (runId) => again.send({ path: { runId } }),
  });
  return (
    <Await
      of={list}
      skeleton={<SkeletonRows rows={3} />}
      errorTitle="The results could not be read"
    >
      {(results) => (
        <>
          <ul ref={rows} className="border-t border-line">
            {groupsOf(results).map((group) => (
              <Item
                key={group[0].routineId}
                results={group}
                projectId={projectId}
                onRead={() => read(group[0].runId)}
                onAgain={() => again.send({ path: { runId: group[0].runId } })}
              />
            ))}
          </ul>
          <div className="mt-2 flex flex-wrap items-center justify-between gap-3">
            <p className="flex flex-wrap items-center gap-1.5 text-xs text-faint max-sm:hidden">
              <Kbd>J</Kbd> <Kbd>K</Kbd> next and previous <Kbd>E</Kbd> mark as read <Kbd>A</Kbd> run
              again
            </p>
            {list.hasMore && (
              <Button size="sm" busy={list.isLoadingMore} onClick={list.loadMore}>
                Show more
              </Button>
            )}
          </div>
        </>
      )}
    </Await>
  );
}

/** Results of one routine, the latest first. */
type Group = readonly [Result, ...Result[]];

/** Puts the results of a routine together, in the order of the latest of each. */
function groupsOf(results: readonly Result[]): readonly Group[] {
  const groups = Map.groupBy(results, ({ routineId }) => routineId).values();
  return [...groups].flatMap(([latest, ...earlier]): Group[] =>
    latest === undefined ? [] : [[latest, ...earlier]],
  );
}

interface ItemProps {
  readonly results: Group;
  readonly projectId: string;
  readonly onRead: () => void;
  readonly onAgain: () => void;
}

function Item({ results: [result, ...earlier], projectId, onRead, onAgain }: ItemProps) {
  const [label, tone] = KINDS[result.kind];
  const differences = differencesOf(result);
  return (
    <li data-run={result.runId} className="relative border-b border-line py-3 hover:bg-hover">
      <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
        <RowLink
          to="/p/$projectId/runs/$runId"
          params={{ projectId, runId: result.runId }}
          className="min-w-0 truncate text-base font-medium"
        >
          {drawn(result.routineName)}
        </RowLink>
        <Badge tone={tone}>{label}</Badge>
        {earlier.length > 0 && (
          <span className="text-sm text-muted">and {earlier.length} earlier</span>
        )}
        <span className="ml-auto text-sm text-muted tabular">
          {result.costUsd !== null && <>{money(result.costUsd)} · </>}
          <Time at={result.finishedAt} as="relative" />
        </span>
      </div>
      <Text result={result} short={differences.length > 0} />
      <Differences found={differences} result={result} />
      {/* Above the link that covers the row. */}
      <div className="relative z-10 mt-1.5 -ml-2 flex w-fit gap-1">
        <Button size="sm" kind="quiet" onClick={onRead}>
          Mark as read
        </Button>
        <Button size="sm" kind="quiet" onClick={onAgain}>
          Run again
        </Button>
      </div>
    </li>
  );
}

/** Shows how a text begins, or why there is none; of data its differences say more. */
function Text({ result, short }: { readonly result: Result; readonly short: boolean }) {
  const { kind, outcomeSummary, excerpt, changes } = result;
  const text =
    kind === 'failed'
      ? reasonOf(result)
      : (outcomeSummary ?? (changes === null ? plainText(excerpt ?? '') : ''));
  if (text === null || text === '') return null;
  return (
    <p
      className={cx(
        'mt-1 text-sm whitespace-pre-line text-muted wrap-anywhere',
        short ? 'line-clamp-1' : 'line-clamp-3',
      )}
    >
      {drawn(text)}
    </p>
  );
}

/** Says that all is read, and what came last. */
function NothingNew({ counts, projectId }: { counts: Unread; projectId: string }) {
  const latest = useRead('/v1/results', { query: { limit: 5 } }, REFRESH);
  return (
    <Await of={latest} skeleton={<SkeletonRows rows={2} />} errorTitle="Results could not be read">
      {(results) =>
        results.length === 0 ? (
          <EmptyState icon={Inbox} title="No results yet">
            What your routines find stands here, the new first.
          </EmptyState>
        ) : (
          counts.unchanged === 0 && (
            <>
              <p className="mb-2 text-sm text-muted">You have read everything. The last ones:</p>
              <Short results={results} projectId={projectId} />
            </>
          )
        )
      }
    </Await>
  );
}

function Short({ results, projectId }: { results: readonly Result[]; projectId: string }) {
  return (
    <ul className="border-t border-line">
      {results.map((result) => (
        <li
          key={result.runId}
          className="relative flex items-center gap-2.5 border-b border-line py-2 hover:bg-hover"
        >
          <RowLink
            to="/p/$projectId/runs/$runId"
            params={{ projectId, runId: result.runId }}
            className="min-w-0 truncate text-base"
          >
            {drawn(result.routineName)}
          </RowLink>
          <Badge tone={KINDS[result.kind][1]}>{KINDS[result.kind][0]}</Badge>
          <Time
            at={result.finishedAt}
            as="relative"
            className="ml-auto shrink-0 text-sm text-muted"
          />
        </li>
      ))}
    </ul>
  );
}

/** Folds the results that say nothing new into one line. */
function Unchanged({ counts, projectId }: { counts: Unread; projectId: string }) {
  return (
    <Fold
      className="mt-2"
      summary={
        <span className="text-sm text-muted">
          {plural(counts.unchangedRoutines, 'routine')} had nothing new
          {counts.unchanged > counts.unchangedRoutines &&
            `, in ${counts.more ? 'over ' : ''}${plural(counts.unchanged, 'run')}`}
        </span>
      }
    >
      <UnchangedList projectId={projectId} />
    </Fold>
  );
}

function UnchangedList({ projectId }: { readonly projectId: string }) {
  const list = useList('/v1/results', {
    query: { unread: 'true', worthReading: 'false', limit: PAGE },
  });
  return (
    <Await of={list} skeleton={<SkeletonRows rows={2} />} errorTitle="Results could not be read">
      {(results) => (
        <>
          <Short results={results} projectId={projectId} />
          {list.hasMore && (
            <p className="text-sm text-muted">
              These are the newest.{' '}
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

/**
 * Listens for the keys of a list of results: `j` and `k` move the focus between them, and the others do something with the one
 * that has it.
 */
function useRowKeys(
  rows: RefObject<HTMLUListElement | null>,
  actions: Readonly<Record<string, (runId: string) => void>>,
): void {
  const chordUntil = useRef(0);
  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    if (event.metaKey || event.ctrlKey || event.altKey || isBusy(event.target)) return;
    if (event.key === 'g') chordUntil.current = event.timeStamp + CHORD_MS;
    if (event.timeStamp < chordUntil.current) return;
    const items = [...(rows.current?.querySelectorAll<HTMLElement>('[data-run]') ?? [])];
    const at = items.findIndex((item) => item.contains(document.activeElement));
    const move = (to: number) => items[to]?.querySelector('a')?.focus();
    if (event.key === 'j') move(at + 1);
    else if (event.key === 'k') move(Math.max(at - 1, 0));
    else {
      const runId = items[at]?.dataset['run'];
      const act = actions[event.key];
      if (runId === undefined || act === undefined) return;
      // Its row is about to go.
      if (event.key === 'e') move(at + 1 < items.length ? at + 1 : at - 1);
      act(runId);
    }
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent) => onKeyDown(event);
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
}
