import { typedViewOf, type DataChanges } from '#ui/format/typed-data.ts';
import { KeyValue } from './page.tsx';
import { TypedTableView, type RowAction } from './typed-table.tsx';
import { TypedValue } from './typed-value.tsx';

export interface TypedDataProps {
  readonly data: unknown;
  /** The schema of the data; undefined while it is read, or when it no longer exists. */
  readonly schema: unknown;
  /** The differences from other data of the routine. */
  readonly changes: DataChanges | null;
  /** Adds a button to each row, such as one for earlier values. */
  readonly rowAction?: RowAction | undefined;
}

/** Shows data by its schema: single values above, and lists as tables whose rows show their changes. */
export default function TypedData({ data, schema, changes, rowAction }: TypedDataProps) {
  const { facts, tables } = typedViewOf(data, schema, changes);
  if (facts.length + tables.length === 0) return <p className="text-base text-muted">Empty.</p>;
  return (
    <div className="flex flex-col gap-5">
      {facts.length > 0 && (
        <KeyValue
          facts={facts.map(({ title, value, format }) => ({
            label: title,
            value: <TypedValue value={value} format={format} />,
          }))}
        />
      )}
      {tables.map((table, index) => (
        <TypedTableView
          key={index}
          table={table}
          // Give the button to the first table only, because only its items have a key.
          rowAction={index === 0 && changes?.by != null ? rowAction : undefined}
        />
      ))}
    </div>
  );
}
