import type { Shape } from '#ui/api/types.ts';
import { drawn } from '#ui/format/drawn.ts';
import { cx } from '#ui/parts/cx.ts';
import { StateBadge } from '#ui/parts/state.tsx';
import { RowLink } from '#ui/parts/table.tsx';
import { Expiry } from './call-list.tsx';

type Question = Shape<'AskedQuestion'>;

/** Puts questions in order, the newest first. Those that were answered on this page stay in their place. */
export function withAnswered(listed: readonly Question[], answered: readonly Question[]): readonly Question[] {
  const byId = new Map([...listed, ...answered].map((question) => [question.id, question]));
  return [...byId.values()].toSorted((one, other) => (one.id > other.id ? -1 : 1));
}

export interface QuestionListProps {
  readonly rows: readonly Question[];
  readonly projectId: string;
  readonly chosen: string | undefined;
  readonly show: string | undefined;
}

/** Lists the questions of runs; shows nothing without a question. */
export function QuestionList({ rows, projectId, chosen, show }: QuestionListProps) {
  if (rows.length === 0) return null;
  return (
    <section aria-label="Questions" className="mb-5">
      <h2 className="flex min-h-8 items-center text-sm font-semibold text-ink">Questions</h2>
      <ul className="border-t border-line">
        {rows.map(({ id, question, routineName, state, expiresAt }) => (
          <li
            key={id}
            data-item={id}
            className={cx(
              'relative border-b border-line py-2.5 pr-2 pl-2 hover:bg-hover',
              id === chosen && 'lg:bg-hover',
            )}
          >
            <RowLink
              to="/p/$projectId/inbox"
              params={{ projectId }}
              search={{ show, question: id }}
              replace
              aria-current={id === chosen ? 'true' : undefined}
              className="line-clamp-2 text-sm wrap-anywhere"
            >
              {question === null ? 'The question was erased.' : drawn(question)}
            </RowLink>
            <p className="mt-0.5 flex items-center gap-2 text-xs text-muted">
              <span className="min-w-0 grow truncate">{drawn(routineName)}</span>
              {state === 'open' ? <Expiry at={expiresAt} word="ends" /> : <StateBadge state={state} />}
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}
