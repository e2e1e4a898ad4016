import { ChartLine } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import type { Shape } from '#ui/api/types.ts';
import { memberOf } from '#ui/format/json-pointer.ts';
import type { DataChanges, TypedField, TypedRow } from '#ui/format/typed-data.ts';
import { IconButton } from '#ui/parts/button.tsx';
import TypedData from '#ui/parts/typed-data.tsx';

const PastDialog = lazy(() => import('./past-dialog.tsx'));

export interface KeyedDataProps {
  readonly run: Shape<'RunDetail'>;
  readonly data: unknown;
  readonly schema: unknown;
  readonly changes: DataChanges | null;
}

/** Shows the data of a run. Numbers of an item link to their values in earlier runs. */
export default function KeyedData({ run, data, schema, changes }: KeyedDataProps) {
  const [asked, setAsked] = useState<{ row: TypedRow; fields: readonly TypedField[] }>();
  return (
    <>
      <TypedData
        data={data}
        schema={schema}
        changes={changes}
        rowAction={(row, fields) => {
          const numbers = fields.filter(({ name }) => typeof memberOf(row.item, name) === 'number');
          if (row.key === null || row.mark === 'removed' || numbers.length === 0) return null;
          return (
            <IconButton
              size="sm"
              icon={ChartLine}
              label={`${String(row.key)} over the last runs`}
              onClick={() => setAsked({ row, fields: numbers })}
            />
          );
        }}
      />
      {asked !== undefined && (
        <Suspense>
          <PastDialog run={run} {...asked} onClose={() => setAsked(undefined)} />
        </Suspense>
      )}
    </>
  );
}
