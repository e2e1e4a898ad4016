import { createLink } from '@tanstack/react-router';
import { memo, type ComponentProps, type ReactNode } from 'react';
import { cx } from './cx.ts';

export interface Column<Row> {
  readonly key: string;
  readonly header: ReactNode;
  readonly cell: (row: Row) => ReactNode;
  /** `right` for numbers. */
  readonly align?: 'left' | 'right';
  /** A Tailwind width, like `w-40`. One column without a width takes the rest. */
  readonly width?: string;
  /** The column is left out below this width, so its content must be elsewhere too. */
  readonly from?: 'md' | 'lg';
  /** Shows the cell without its column's name if the table is a list, on a phone. */
  readonly bare?: boolean;
}

export interface DataTableProps<Row> {
  /** Name of the table for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Buttons at the end of the row, above its link. */
  readonly actions?: (row: Row) => ReactNode;
  /** Width of the actions' column, `w-24` unless they need more. */
  readonly actionsWidth?: string;
  /** Dims rows, such as archived ones. */
  readonly isDim?: (row: Row) => boolean;
}

const FROM = { md: 'max-md:hidden!', lg: 'max-lg:hidden!' } as const;

/**
 * Shows rows of about 44 px under quiet headers. Below 640 px each row becomes a small card: its first column is the
 * title, the others follow with their headers. The layout of cards removes the roles of a table, so they are set
 * explicitly.
 */
export function DataTable<Row>({
  label,
  columns,
  rows,
  keyOf,
  actions,
  actionsWidth = 'w-24',
  isDim,
}: DataTableProps<Row>) {
  return (
    <table role="table" aria-label={label} className="w-full table-fixed text-sm max-sm:block">
      <thead role="rowgroup" className="max-sm:sr-only">
        <tr role="row" className="border-b border-line">
          {columns.map((column) => (
            <th
              key={column.key}
              role="columnheader"
              scope="col"
              className={cx(
                'h-8 px-2 text-left text-xs font-medium text-faint first:pl-0 last:pr-0',
                column.align === 'right' && 'text-right',
                column.width,
                column.from && FROM[column.from],
              )}
            >
              {column.header}
            </th>
          ))}
          {actions !== undefined && (
            <th role="columnheader" scope="col" className={actionsWidth}>
              <span className="sr-only">Actions</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody role="rowgroup" className="max-sm:block">
        {rows.map((row) => (
          <BodyRow key={keyOf(row)} row={row} columns={columns} actions={actions} isDim={isDim?.(row) === true} />
        ))}
      </tbody>
    </table>
  );
}

interface BodyRowProps<Row> extends Pick<DataTableProps<Row>, 'columns'> {
  readonly row: Row;
  readonly actions: DataTableProps<Row>['actions'] | undefined;
  readonly isDim: boolean;
}

/** Renders again only when its own row changes, for callers whose columns are constant. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- memo() forgets that the component is generic
const BodyRow = memo(PlainRow) as typeof PlainRow;

function PlainRow<Row>({ row, columns, actions, isDim }: BodyRowProps<Row>) {
  return (
    <tr
      role="row"
      className={cx(
        'group relative h-11 border-b border-line transition-colors duration-75 hover:bg-hover max-sm:grid max-sm:h-auto max-sm:grid-cols-[minmax(0,1fr)_auto] max-sm:gap-x-3 max-sm:gap-y-1 max-sm:py-3',
        isDim && '[&_td]:text-faint [&_td_*]:text-faint',
      )}
    >
      {columns.map((column, index) => (
        <td
          key={column.key}
          role="cell"
          className={cx(
            'overflow-hidden px-2 py-1.5 text-ellipsis text-muted first:pl-0 first:text-ink last:pr-0 max-sm:overflow-visible max-sm:p-0',
            column.align === 'right' && 'text-right tabular max-sm:text-left',
            column.from && FROM[column.from],
            index === 0 ? 'max-sm:col-start-1' : 'max-sm:col-span-2',
            isNamed(column, index) &&
              'max-sm:grid max-sm:grid-cols-[5.5rem_minmax(0,1fr)] max-sm:items-baseline max-sm:gap-2',
          )}
        >
          {isNamed(column, index) && (
            <span aria-hidden className="text-xs text-faint sm:hidden">
              {column.header}
            </span>
          )}
          {/* Makes the cell one item of the grid on narrow pages; has no box of its own in a table row. */}
          <div className="min-w-0 sm:contents">{column.cell(row)}</div>
        </td>
      ))}
      {actions !== undefined && (
        <td role="cell" className="py-1 pl-2 text-right max-sm:col-start-2 max-sm:row-start-1 max-sm:p-0">
          <div className="relative z-10 inline-flex items-center justify-end gap-1">{actions(row)}</div>
        </td>
      )}
    </tr>
  );
}

/** Tells whether a cell shows its column's name if the table is a list. */
function isNamed<Row>(column: Column<Row>, index: number): boolean {
  return index > 0 && column.bare !== true;
}

/** The link of a row. A click anywhere on the row follows the link. */
export const RowLink = createLink(RowAnchor);

function RowAnchor({ className, children, ...rest }: ComponentProps<'a'>) {
  return (
    <a
      className={cx(
        'font-medium text-ink outline-none after:absolute after:inset-0 focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent',
        className,
      )}
      {...rest}
    >
      {children}
    </a>
  );
}
