import { ArrowDown, ArrowUp } from 'lucide-react';
import { useDeferredValue, useEffect, useEffectEvent, useState, type ReactNode } from 'react';
import { flushSync } from 'react-dom';
import { count, plural } from '#ui/format/numbers.ts';
import { valueIn, type Mark, type TypedField, type TypedRow, type TypedTable } from '#ui/format/typed-data.ts';
import { compareValues, plainText } from '#ui/format/typed-values.ts';
import { Button } from './button.tsx';
import { cx } from './cx.ts';
import { Input } from './input.tsx';
import { Scrolling } from './scrolling.tsx';
import { Checkbox } from './toggles.tsx';
import { TypedValue } from './typed-value.tsx';

/** Makes a button of a row, from its item and the columns of the table. */
export type RowAction = (row: TypedRow, fields: readonly TypedField[]) => ReactNode;

export interface TypedTableViewProps {
  readonly table: TypedTable;
  readonly rowAction: RowAction | undefined;
}

/** Number of rows from which a reader can sort and filter. */
const MANY = 10;
/** Number of rows drawn at a time. */
const STEP = 100;
/** The most rows on paper, where a reader cannot show more. */
const MOST_PRINTED = 2_000;

interface Order {
  readonly name: string;
  readonly direction: 1 | -1;
}

/** Shows a list as a table that scrolls within itself; a long one can be sorted and filtered. */
export function TypedTableView({ table, rowAction }: TypedTableViewProps) {
  const { title, rows, leftOut } = table;
  const [named, ids] = idsApart(table.fields);
  const fields = [...named, ...ids];
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
  const head = (field: TypedField) => (
    <Head
      key={field.name}
      field={field}
      order={order?.name === field.name ? order.direction : undefined}
      onSort={isMany ? (direction) => setOrder({ name: field.name, direction }) : undefined}
    />
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
      <Scrolling label={`Table of ${title}`} className="rounded-lg border border-line bg-surface">
        <table role="table" className="w-full border-collapse text-sm max-sm:block print:table">
          <thead role="rowgroup" className="max-sm:sr-only print:not-sr-only print:table-header-group">
            <tr role="row" className="border-b border-line">
              {isMarked && (
                <th role="columnheader" scope="col" className={cx(HEAD, 'w-px')}>
                  Change
                </th>
              )}
              {named.map(head)}
              {rowAction !== undefined && (
                <th role="columnheader" scope="col" className={cx(HEAD, 'print:hidden')}>
                  <span className="sr-only">Past</span>
                </th>
              )}
              {ids.map(head)}
            </tr>
          </thead>
          <tbody role="rowgroup" className="max-sm:flex max-sm:flex-col print:table-row-group">
            {sorted.slice(0, shown).map((row) => (
              <Row key={row.id} row={row} named={named} ids={ids} isMarked={isMarked} action={rowAction} />
            ))}
          </tbody>
        </table>
      </Scrolling>
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

/** Separates ids, which come last. An id that is the only name of an item stays in place. */
function idsApart(fields: readonly TypedField[]): readonly [named: readonly TypedField[], ids: readonly TypedField[]] {
  const isId = ({ name }: TypedField) => ID.test(name);
  if (!fields.some((field) => !isId(field) && !field.isNumber)) return [fields, []];
  return [fields.filter((field) => !isId(field)), fields.filter(isId)];
}

const ID = /^(?:id|uuid|guid)$|(?:[a-z]Id|_id|-id)$/;

/** Makes a change before the browser prints, and draws the page with this change. */
function useBeforePrint(change: () => void): void {
  const onPrint = useEffectEvent(change);
  useEffect(() => {
    const listen = () => flushSync(() => onPrint());
    addEventListener('beforeprint', listen);
    return () => removeEventListener('beforeprint', listen);
  }, []);
}

const CELL = 'px-3 py-2 max-sm:p-0 print:px-3 print:py-2 print:table-cell';

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
      role="columnheader"
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
          {order !== undefined && <Icon aria-hidden className="size-3 print:hidden" />}
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

interface RowProps {
  readonly row: TypedRow;
  readonly named: readonly TypedField[];
  readonly ids: readonly TypedField[];
  readonly isMarked: boolean;
  readonly action: TypedTableViewProps['rowAction'];
}

function Row({ row, named, ids, isMarked, action }: RowProps) {
  const [word, colour, ink] = MARKS[row.mark];
  const cell = (field: TypedField) => <Cell key={field.name} row={row} field={field} />;
  return (
    <tr
      role="row"
      className={cx(
        'border-b border-line align-top last:border-b-0 max-sm:relative max-sm:grid max-sm:gap-y-1 max-sm:border-b! max-sm:px-3 max-sm:py-2.5 print:table-row',
        // On a phone, where rows are cards, changed rows come first.
        row.mark !== 'same' && 'max-sm:-order-1',
        colour,
      )}
    >
      {isMarked && (
        <td role="cell" className={cx(CELL, 'text-xs font-medium whitespace-nowrap max-sm:empty:hidden', ink)}>
          {word}
        </td>
      )}
      {named.map(cell)}
      {action !== undefined && (
        <td role="cell" className="px-1 py-1 text-right max-sm:absolute max-sm:top-1 max-sm:right-1 print:hidden">
          {action(row, [...named, ...ids])}
        </td>
      )}
      {ids.map(cell)}
    </tr>
  );
}

function Cell({ row, field: { name, title, format, isNumber } }: { row: TypedRow; field: TypedField }) {
  return (
    <td
      role="cell"
      className={cx(
        CELL,
        'max-w-80 text-ink max-sm:grid max-sm:max-w-none max-sm:grid-cols-[6rem_minmax(0,1fr)] max-sm:gap-3',
        isNumber && 'text-right tabular max-sm:text-left',
      )}
    >
      <span aria-hidden className="text-xs leading-5 text-faint sm:hidden print:hidden">
        {title}
      </span>
      <div className={cx('min-w-0', row.mark === 'removed' && 'line-through decoration-faint')}>
        <TypedValue value={valueIn(row.item, name)} format={format} />
        {row.mark === 'changed' && <Before row={row} name={name} format={format} />}
      </div>
    </td>
  );
}

/** Shows the previous value of a changed value. */
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
