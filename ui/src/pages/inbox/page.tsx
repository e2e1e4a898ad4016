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
import { PageHeader } from '#ui/parts/page.tsx';
import { Pager } from '#ui/parts/pager.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { CallList, inOrder, MOST_AT_ONCE } from './call-list.tsx';
import { CallPane } from './call-pane.tsx';
import type { Several } from './decide-several.tsx';
import { QuestionList, withAnswered } from './question-list.tsx';
import { QuestionPane } from './question-pane.tsx';

// The dialog is loaded when a person first opens it.
const DecideSeveral = lazy(() => import('./decide-several.tsx'));

type Action = Shape<'Action'>;
type Question = Shape<'AskedQuestion'>;

const { useNavigate, useParams, useSearch } = getRouteApi('/account/p/$projectId/inbox');

const OFTEN = { everyMs: 15_000, keepPrevious: true };

/** Lists the questions and the held calls of runs that wait for a person, with the chosen one beside the list. */
export function InboxPage() {
  const { projectId } = useParams();
  const { action, question, show } = useSearch();
  const navigate = useNavigate();
  const isAll = show === 'all';
  const open = isAll ? {} : ({ state: 'open' } as const);
  const asked = useList('/v1/questions', { query: { ...open, limit: 50 } }, OFTEN);
  const list = useList('/v1/actions', { query: { ...open, limit: 200 } }, OFTEN);
  const [answered, setAnswered] = useState<readonly Question[]>([]);
  const [decided, setDecided] = useState<readonly Action[]>([]);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [several, setSeveral] = useState<Several>();
  const questions = withAnswered(asked.data ?? [], answered);
  const rows = inOrder(list.data ?? [], decided);
  const ids = [...questions, ...rows].map(({ id }) => id);
  // Without a choice the first shown item stays, so that no key decides about an item that has just arrived.
  const [first, setFirst] = useState<string>();
  if (first === undefined && ids[0] !== undefined && !asked.isPending && !list.isPending) setFirst(ids[0]);
  const wanted = question ?? action;
  const chosen = wanted ?? first;
  const choose = (id: string) =>
    void navigate({ search: { show, [isQuestion(id) ? 'question' : 'action']: id }, replace: true });
  const onDecided = (actions: readonly Action[]) => {
    setDecided((before) => [...before, ...actions]);
    setSelected(new Set());
  };
  usePageKeys((key) => {
    const at = ids.findIndex((id) => id === chosen);
    const move = (to: number) => {
      const id = ids[to];
      if (id !== undefined) choose(id);
      document.querySelector(`[data-item="${id}"]`)?.scrollIntoView({ block: 'nearest' });
    };
    const isSelectable = rows.some(({ id, state }) => id === chosen && state === 'open');
    if (key === INBOX_KEYS.next.key) move(wanted === undefined && isNarrow() ? 0 : at + 1);
    else if (key === INBOX_KEYS.previous.key) move(Math.max(at - 1, 0));
    else if (key === INBOX_KEYS.select.key && isSelectable) setSelected(toggled(chosen ?? ''));
    else return false;
    return true;
  });
  return (
    <>
      <PageHeader
        title="Inbox"
        description="Questions of runs, and tool calls that wait for approval. No call is made before you approve it."
      />
      <Filter isAll={isAll} />
      {ids.length === 0 && asked.data !== undefined && list.data !== undefined ? (
        <EmptyState icon={Inbox} title={isAll ? 'Nothing was asked or held yet' : 'Nothing waits for you'}>
          Calls of a tool that is set to <em>Hold for approval</em> appear here, and questions of routines that may ask.
        </EmptyState>
      ) : (
        <div className="grid grid-cols-1 gap-x-8 lg:grid-cols-[minmax(0,22rem)_minmax(0,1fr)]">
          <div className={cx('min-w-0', wanted !== undefined && 'max-lg:hidden')}>
            <Await of={asked} skeleton={<SkeletonRows rows={1} />} errorTitle="The questions could not be read">
              {() => <QuestionList rows={questions} projectId={projectId} chosen={chosen} show={show} />}
            </Await>
            <Pager list={asked} />
            <Await of={list} skeleton={<SkeletonRows rows={6} />} errorTitle="The held calls could not be read">
              {() => (
                <CallList
                  rows={rows}
                  projectId={projectId}
                  chosen={chosen}
                  show={show}
                  selected={selected}
                  onSelect={setSelected}
                  onSeveral={(kind, some) => {
                    const waiting = rows.filter(({ id, state }) => state === 'open' && some.has(id));
                    setSeveral({ kind, actions: waiting.slice(0, MOST_AT_ONCE) });
                  }}
                />
              )}
            </Await>
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
              Inbox
            </Link>
            {chosen !== undefined &&
              (isQuestion(chosen) ? (
                <QuestionPane
                  key={chosen}
                  id={chosen}
                  onAnswered={(one) => setAnswered((before) => [...before, one])}
                />
              ) : (
                <CallPane
                  key={chosen}
                  id={chosen}
                  onDecided={(one) => {
                    onDecided([one]);
                    if (one.id !== chosen) choose(one.id);
                  }}
                />
              ))}
          </div>
        </div>
      )}
      {ids.length > 0 && <KeyLine />}
      <Suspense>
        {several !== undefined && (
          <DecideSeveral {...several} onDecided={onDecided} onClose={() => setSeveral(undefined)} />
        )}
      </Suspense>
    </>
  );
}

function isQuestion(id: string): boolean {
  return id.startsWith('qst_');
}

/** Returns true for a window too narrow to show the list and the chosen item together. */
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
    <nav aria-label="Which items" className="mb-4 flex gap-4 border-b border-line">
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
