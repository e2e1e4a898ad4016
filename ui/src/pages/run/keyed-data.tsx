import { lazy, Suspense, useState } from 'react';
import { useRead } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { memberOf } from '#ui/format/json-pointer.ts';
import { itemOf, valuesOf } from '#ui/format/series.ts';
import type { DataChanges, TypedField, TypedRow } from '#ui/format/typed-data.ts';
import { SparkButton } from '#ui/parts/spark-button.tsx';
import TypedData from '#ui/parts/typed-data.tsx';

const PastDialog = lazy(() => import('./past-dialog.tsx'));

/** Number of runs that the small lines and the chart of an item show. This run is the last of them. */
export const RUNS = 12;

export interface KeyedDataProps {
  readonly run: Shape<'RunDetail'>;
  readonly data: unknown;
  readonly schema: unknown;
  readonly changes: DataChanges | null;
}

/** Shows the data of a run. Numbers of an item link to their values in earlier runs. */
export default function KeyedData({ run, data, schema, changes }: KeyedDataProps) {
  const [asked, setAsked] = useState<{ row: TypedRow; fields: readonly TypedField[] }>();
  const { data: series } = useRead(
    '/v1/routines/{routineId}/series',
    { path: { routineId: run.routineId }, query: { upTo: run.id, limit: RUNS } },
    { enabled: changes?.by != null, staleMs: 600_000 },
  );
  return (
    <>
      <TypedData
        data={data}
        schema={schema}
        changes={changes}
        rowAction={(row, fields) => {
          const numbers = fields.filter(({ name }) => typeof memberOf(row.item, name) === 'number');
          if (row.key === null || row.mark === 'removed' || numbers.length === 0) return null;
          const item = series === undefined ? undefined : itemOf(series, row.key);
          return (
            <SparkButton
              label={`${String(row.key)} over the last runs`}
              values={item === undefined ? undefined : valuesOf(item)}
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
