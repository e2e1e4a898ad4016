import type { RowPair, TablePair } from '#ui/format/block-diff.ts';
import { drawn } from '#ui/format/drawn.ts';
import { plural } from '#ui/format/numbers.ts';
import type { LinePair, Stretch } from '#ui/format/word-diff.ts';
import { Button } from './button.tsx';
import { cx } from './cx.ts';
import { useFolds } from './use-folds.ts';

/** Shows two tables as one: each row with its sign, and changed cells with both values. */
export function ComparedTable({ table: { columns, rows } }: { readonly table: TablePair }) {
  const { shown, open, more } = useFolds(rows);
  return (
    <div
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls has to take the focus
      tabIndex={0}
      role="region"
      aria-label="Table"
      className="ring-inside my-2 overflow-x-auto px-3"
    >
      <table className="w-full">
        <thead>
          <tr className="border-b border-line text-left">
            <th scope="col" className="w-5">
              <span className="sr-only">Change</span>
            </th>
            {columns.map((name) => (
              <th key={name} scope="col" className={cx(CELL, 'text-xs font-medium text-faint')}>
                {drawn(name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((fold) => (
            <tr key={fold.index} className={cx('border-b border-line last:border-b-0', toneOf(fold))}>
              {fold.kind === 'pair' ? (
                <Cells row={fold.pair} columns={columns} />
              ) : (
                <td colSpan={columns.length + 1}>
                  <button
                    type="button"
                    className="ring-inside w-full px-2 py-1 text-left text-xs text-muted hover:bg-hover"
                    onClick={() => open(fold.index)}
                  >
                    {`… ${plural(fold.length, 'row')} that both have`}
                  </button>
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {more !== undefined && (
        <Button size="sm" className="mt-2" onClick={more}>
          Show more
        </Button>
      )}
    </div>
  );
}

/** Keeps the words of a column whole; the table scrolls instead. */
const CELL = 'min-w-16 max-w-88 px-2 py-1.5 align-top';

const WORDS = { '+': 'Added', '−': 'Removed', '~': 'Changed', '=': 'The same' } as const;

function toneOf(fold: { readonly kind: string; readonly pair?: RowPair }): string {
  const sign = fold.pair?.sign;
  return sign === '+' ? 'bg-good-soft' : sign === '−' ? 'bg-bad-soft' : sign === '~' ? 'text-ink' : 'text-muted';
}

function Cells({ row: { sign, cells }, columns }: { readonly row: RowPair; readonly columns: readonly string[] }) {
  return (
    <>
      <td className="py-1.5 text-center align-top text-muted">
        <span aria-hidden>{sign === '=' ? '' : sign}</span>
        <span className="sr-only">{WORDS[sign]}</span>
      </td>
      {columns.map((name) => (
        <td key={name} className={CELL}>
          <Cell pair={cells.get(name)} />
        </td>
      ))}
    </>
  );
}

/** Shows a value that both tables have once, and a changed value after the old one. */
function Cell({ pair }: { readonly pair: LinePair | undefined }) {
  if (pair === undefined) return null;
  const { before, after, same } = pair;
  if (same) return <Stretches of={after ?? []} whole />;
  return (
    <span className="flex flex-wrap gap-x-2">
      {before !== null && <Stretches of={before} as="del" whole />}
      {after !== null && <Stretches of={after} as="ins" whole />}
    </span>
  );
}

export interface StretchesProps {
  readonly of: readonly Stretch[];
  readonly as?: 'ins' | 'del' | 'span';
  /** Keeps words whole, for a cell of a table that scrolls. */
  readonly whole?: boolean;
}

/** Shows a line; words that differ are underlined or struck through, so that color is not needed to see them. */
export function Stretches({ of, as: Tag = 'span', whole = false }: StretchesProps) {
  return (
    <span className={cx('min-w-0 whitespace-pre-wrap', whole ? 'wrap-break-word' : 'wrap-anywhere')}>
      {of.map(({ text, differs }, index) =>
        differs ? (
          <Tag key={index} className={cx('rounded-sm font-medium', Tag === 'ins' ? 'text-good-ink' : 'text-bad-ink')}>
            {drawn(text)}
          </Tag>
        ) : (
          drawn(text)
        ),
      )}
      {/* Gives an empty line the height of any other. */}
      {of.length === 0 && <br />}
    </span>
  );
}
