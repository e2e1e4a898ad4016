import { ArrowDown, ArrowUp } from 'lucide-react';
import { useDeferredValue, useEffect, useEffectEvent, useState, type ReactNode } from 'react';
import { flushSync } from 'react-dom';
import { count, plural } from '#ui/format/numbers.ts';
import { valueIn, type Mark, type TypedField, type TypedRow, type TypedTable } from '#ui/format/typed-data.ts';
import { compareValues, plainText } from '#ui/format/typed-values.ts';
import { Button } from './button.tsx';
import { cx } from './cx.ts';
import { Input } from './input.tsx';
import { Checkbox } from './toggles.tsx';
import { TypedValue } from './typed-value.tsx';

/** Makes a button of a row, from its item and the columns of the table. */
export type RowAction = (row: TypedRow, fields: readonly TypedField[]) => ReactNode;

export interface TypedTableViewProps {
  readonly table: TypedTable;
  readonly rowAction: RowAction | undefined;
}

/** Rows from which on a reader sorts and filters. */
const MANY = 10;
/** Rows that are drawn at a time. */
const STEP = 100;
/** Rows on paper, where nothing can be opened. */
const MOST_PRINTED = 2_000;

interface Order {
  readonly name: string;
  readonly direction: 1 | -1;
}

/** Shows a list as a table that scrolls within itself; a long one can be sorted and filtered. */
export function TypedTableView({ table, rowAction }: TypedTableViewProps) {
  const { title, fields, rows, leftOut } = table;
  const [order, setOrder] = useState<Order>();
  const [wanted, setWanted] = useState('');
  const [onlyChanges, setOnlyChanges] = useState(false);
  const [shown, setShown] = useState(STEP);
  useBeforePrint(() => setShown(MOST_PRINTED));
  const words = useDeferredValue(wanted).trim().toLowerCase();
  const isMany = rows.length > MANY;
  const isMarked = rows.some(({ mark }) => mark !== 'same');
  const found = rows.filter(
    (row) => (!onlyChanges || row.mark !== 'same') && (words === '' || holds(row, fields, words)),
  );
  const sorted =
    order === undefined
      ? found
      : found.toSorted((a, b) =>
          compareValues(valueIn(a.item, order.name), valueIn(b.item, order.name), order.direction),
        );
  return (
    <section aria-label={title} className="min-w-0">
      <div className="mb-2 flex flex-wrap items-center gap-x-4 gap-y-2">
        <h3 className="text-sm font-medium text-ink">{title}</h3>
        <p className="text-sm text-muted" role="status">
          {found.length === rows.length
            ? plural(rows.length, 'row')
            : `${count(found.length)} of ${plural(rows.length, 'row')}`}
        </p>
        {isMany && (
          <div className="ml-auto flex flex-wrap items-center gap-x-4 gap-y-2 max-sm:ml-0 print:hidden">
            {isMarked && <Checkbox label="Only changes" checked={onlyChanges} onChange={setOnlyChanges} />}
            <span className="w-48">
              <Input
                type="search"
                aria-label={`Filter ${title}`}
                placeholder="Filter"
                value={wanted}
                onChange={({ target }) => setWanted(target.value)}
              />
            </span>
          </div>
        )}
      </div>
      <div
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls has to take the focus
        tabIndex={0}
        role="region"
        aria-label={`Table of ${title}`}
        className="relative overflow-x-auto rounded-lg border border-line bg-surface"
      >
        <table className="w-full border-collapse text-sm">
          <thead>
            <tr className="border-b border-line">
              {isMarked && (
                <th scope="col" className={HEAD}>
                  Change
                </th>
              )}
              {fields.map((field) => (
                <Head
                  key={field.name}
                  field={field}
                  order={order?.name === field.name ? order.direction : undefined}
                  onSort={isMany ? (direction) => setOrder({ name: field.name, direction }) : undefined}
                />
              ))}
              {rowAction !== undefined && (
                <th scope="col" className={cx(HEAD, 'print:hidden')}>
                  <span className="sr-only">Past</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {sorted.slice(0, shown).map((row) => (
              <Row key={row.id} row={row} fields={fields} isMarked={isMarked} action={rowAction} />
            ))}
          </tbody>
        </table>
      </div>
      {sorted.length > shown && (
        <>
          <Button size="sm" className="mt-2 print:hidden" onClick={() => setShown(shown + STEP)}>
            {`Show more of ${plural(sorted.length, 'row')}`}
          </Button>
          <p className="mt-2 hidden text-sm text-muted print:block">
            {`${plural(sorted.length - shown, 'more row')} in the export.`}
          </p>
        </>
      )}
      {leftOut.length > 0 && (
        <p className="mt-2 text-sm text-muted wrap-anywhere">
          {`${plural(leftOut.length, 'more column')} in the export: ${leftOut.slice(0, 20).join(', ')}`}
          {leftOut.length > 20 && ' …'}
        </p>
      )}
    </section>
  );
}

/** Draws what paper needs before the browser looks at the page. */
function useBeforePrint(change: () => void): void {
  const onPrint = useEffectEvent(change);
  useEffect(() => {
    const listen = () => flushSync(() => onPrint());
    addEventListener('beforeprint', listen);
    return () => removeEventListener('beforeprint', listen);
  }, []);
}

const HEAD = 'h-8 px-3 text-left text-xs font-medium whitespace-nowrap text-faint';

function Head({
  field: { title, description, isNumber },
  order,
  onSort,
}: {
  readonly field: TypedField;
  readonly order: 1 | -1 | undefined;
  readonly onSort: ((direction: 1 | -1) => void) | undefined;
}) {
  const Icon = order === -1 ? ArrowDown : ArrowUp;
  return (
    <th
      scope="col"
      title={description}
      aria-sort={order === undefined ? undefined : order === 1 ? 'ascending' : 'descending'}
      className={cx(HEAD, isNumber && 'text-right')}
    >
      {onSort === undefined ? (
        title
      ) : (
        <button
          type="button"
          onClick={() => onSort(order === 1 ? -1 : 1)}
          className="ring-inside inline-flex min-h-6 items-center gap-1 rounded-sm hover:text-ink"
        >
          {title}
          {order !== undefined && <Icon aria-hidden className="size-3" />}
        </button>
      )}
    </th>
  );
}

const MARKS: Readonly<Record<Mark, readonly [word: string, row: string, text: string]>> = {
  added: ['+ Added', 'bg-good-soft', 'text-good-ink'],
  removed: ['− Removed', 'bg-bad-soft', 'text-bad-ink'],
  changed: ['~ Changed', 'bg-warn-soft', 'text-warn-ink'],
  same: ['', '', ''],
};

function Row({
  row,
  fields,
  isMarked,
  action,
}: {
  readonly row: TypedRow;
  readonly fields: readonly TypedField[];
  readonly isMarked: boolean;
  readonly action: TypedTableViewProps['rowAction'];
}) {
  const [word, colour, ink] = MARKS[row.mark];
  return (
    <tr className={cx('border-b border-line align-top last:border-b-0', colour)}>
      {isMarked && <td className={cx('px-3 py-2 text-xs font-medium whitespace-nowrap', ink)}>{word}</td>}
      {fields.map(({ name, format, isNumber }) => (
        <td
          key={name}
          className={cx(
            'max-w-80 min-w-16 px-3 py-2 text-ink',
            isNumber && 'text-right tabular',
            row.mark === 'removed' && 'line-through decoration-faint',
          )}
        >
          <TypedValue value={valueIn(row.item, name)} format={format} />
          {row.mark === 'changed' && <Before row={row} name={name} format={format} />}
        </td>
      ))}
      {action !== undefined && <td className="px-1 py-1 text-right print:hidden">{action(row, fields)}</td>}
    </tr>
  );
}

/** Shows what a value was before, where it is another one now. */
function Before({ row, name, format }: { row: TypedRow; name: string; format: string | undefined }) {
  const before = valueIn(row.before, name);
  if (JSON.stringify(before) === JSON.stringify(valueIn(row.item, name))) return null;
  return (
    <div className="text-xs text-warn-ink">
      was <TypedValue value={before ?? null} format={format} />
    </div>
  );
}

function holds({ item, mark }: TypedRow, fields: readonly TypedField[], words: string): boolean {
  return (
    mark.includes(words) || fields.some(({ name }) => plainText(valueIn(item, name)).toLowerCase().includes(words))
  );
}
