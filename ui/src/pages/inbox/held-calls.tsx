import { getRouteApi, Link } from '@tanstack/react-router';
import { ChevronLeft, Inbox } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useList } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { INBOX_KEYS } from '#ui/api/verbs/actions.ts';
import { cx } from '#ui/parts/cx.ts';
import { Await, EmptyState } from '#ui/parts/feedback.tsx';
import { Kbd } from '#ui/parts/kbd.tsx';
import { usePageKeys } from '#ui/parts/page-keys.ts';
import { Pager } from '#ui/parts/pager.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { CallList, inOrder, MOST_AT_ONCE } from './call-list.tsx';
import { CallPane } from './call-pane.tsx';
import type { Several } from './decide-several.tsx';

// Loaded when it is opened.
const DecideSeveral = lazy(() => import('./decide-several.tsx'));

type Action = Shape<'Action'>;

const { useNavigate, useParams, useSearch } = getRouteApi('/account/p/$projectId/inbox');

/** Lists the held calls by run, with the chosen one beside them. */
export function HeldCalls() {
  const { projectId } = useParams();
  const { action: wanted, show } = useSearch();
  const navigate = useNavigate();
  const isAll = show === 'all';
  const list = useList(
    '/v1/actions',
    { query: isAll ? { limit: 200 } : { state: 'open', limit: 200 } },
    { everyMs: 15_000, keepPrevious: true },
  );
  const [decided, setDecided] = useState<readonly Action[]>([]);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [several, setSeveral] = useState<Several>();
  const rows = inOrder(list.data ?? [], decided);
  const chosen = wanted ?? rows[0]?.id;
  const choose = (id: string | undefined) => void navigate({ search: { show, action: id }, replace: true });
  const onDecided = (actions: readonly Action[]) => {
    setDecided((before) => [...before, ...actions]);
    setSelected(new Set());
  };
  usePageKeys((key) => {
    const at = rows.findIndex(({ id }) => id === chosen);
    const move = (to: number) => {
      const id = rows[to]?.id;
      if (id !== undefined) choose(id);
      document.querySelector(`[data-action="${id}"]`)?.scrollIntoView({ block: 'nearest' });
    };
    if (key === INBOX_KEYS.next.key) move(wanted === undefined && isNarrow() ? 0 : at + 1);
    else if (key === INBOX_KEYS.previous.key) move(Math.max(at - 1, 0));
    else if (key === INBOX_KEYS.select.key && rows[at]?.state === 'open') setSelected(toggled(rows[at].id));
    else return false;
    return true;
  });
  const open = rows.filter(({ state }) => state === 'open');
  return (
    <Await of={list} skeleton={<SkeletonRows rows={6} />} errorTitle="The held calls could not be read">
      {() => (
        <>
          <div className="grid grid-cols-1 gap-x-8 lg:grid-cols-[minmax(0,22rem)_minmax(0,1fr)]">
            <div className={cx('min-w-0', wanted !== undefined && 'max-lg:hidden')}>
              <Filter isAll={isAll} />
              {rows.length === 0 ? (
                <EmptyState icon={Inbox} title={isAll ? 'No calls were held yet' : 'No call waits for you'}>
                  A tool that is set to <em>Hold for approval</em> has its calls here, until a person decides.
                </EmptyState>
              ) : (
                <CallList
                  rows={rows}
                  projectId={projectId}
                  chosen={chosen}
                  show={show}
                  selected={selected}
                  onSelect={setSelected}
                  onSeveral={(kind, ids) =>
                    setSeveral({ kind, actions: open.filter(({ id }) => ids.has(id)).slice(0, MOST_AT_ONCE) })
                  }
                />
              )}
              <Pager list={list} />
            </div>
            <div className={cx('min-w-0', wanted === undefined && 'max-lg:hidden')}>
              <Link
                to="/p/$projectId/inbox"
                params={{ projectId }}
                search={{ show }}
                className="mb-2 -ml-1 inline-flex items-center gap-0.5 rounded-sm pr-1 text-sm text-muted hover:text-ink lg:hidden"
              >
                <ChevronLeft aria-hidden className="size-3.5" />
                All calls
              </Link>
              {chosen !== undefined && (
                <CallPane
                  key={chosen}
                  id={chosen}
                  onDecided={(action) => {
                    onDecided([action]);
                    if (action.id !== chosen) choose(action.id);
                  }}
                />
              )}
            </div>
          </div>
          {rows.length > 0 && <KeyLine />}
          <Suspense>
            {several !== undefined && (
              <DecideSeveral {...several} onDecided={onDecided} onClose={() => setSeveral(undefined)} />
            )}
          </Suspense>
        </>
      )}
    </Await>
  );
}

/** Below this width the list and the chosen call are not visible together. */
function isNarrow(): boolean {
  return !globalThis.matchMedia('(min-width: 64rem)').matches;
}

function toggled(id: string) {
  return (before: ReadonlySet<string>) => {
    const after = new Set(before);
    if (!after.delete(id)) after.add(id);
    return after;
  };
}

function Filter({ isAll }: { readonly isAll: boolean }) {
  const { projectId } = useParams();
  const options = [
    { label: 'Waiting', show: undefined, isOn: !isAll },
    { label: 'All', show: 'all', isOn: isAll },
  ];
  return (
    <nav aria-label="Which calls" className="mb-3 flex gap-4 border-b border-line">
      {options.map(({ label, show, isOn }) => (
        <Link
          key={label}
          to="/p/$projectId/inbox"
          params={{ projectId }}
          search={{ show }}
          aria-current={isOn ? 'page' : undefined}
          className="ring-inside -mb-px flex h-9 items-center border-b-2 border-transparent px-0.5 text-base font-medium text-muted hover:text-ink aria-[current=page]:border-accent aria-[current=page]:text-ink"
        >
          {label}
        </Link>
      ))}
    </nav>
  );
}

function KeyLine() {
  return (
    <p className="mt-6 flex flex-wrap items-center gap-x-3 gap-y-1.5 text-xs text-faint max-sm:hidden">
      {Object.values(INBOX_KEYS).map(({ key, label }) => (
        <span key={key} className="flex items-center gap-1.5">
          <Kbd>{key.toUpperCase()}</Kbd> {label.toLowerCase()}
        </span>
      ))}
    </p>
  );
}
