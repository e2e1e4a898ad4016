import { ChartLine, Download } from 'lucide-react';
import { useState } from 'react';
import { useRead } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { fileNameOf, seriesCsvOf } from '#ui/format/exports.ts';
import { plural, shortCount } from '#ui/format/numbers.ts';
import { itemOf, pointsOf, titleOfItem, valuesOf, type SeriesItem } from '#ui/format/series.ts';
import { date } from '#ui/format/times.ts';
import type { TypedField, TypedTable } from '#ui/format/typed-data.ts';
import { Button } from '#ui/parts/button.tsx';
import { download } from '#ui/parts/download.ts';
import { Await, EmptyState } from '#ui/parts/feedback.tsx';
import Line from '#ui/parts/line.tsx';
import { Box } from '#ui/parts/page.tsx';
import { Select } from '#ui/parts/select.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { SparkButton } from '#ui/parts/spark-button.tsx';
import { TypedTableView } from '#ui/parts/typed-table.tsx';

const RUNS = 100;

type Series = Shape<'Series'>;

/** Shows a numeric field of each item of the results over all runs, as a chart and as a table. */
export default function DataTab({ routine }: { readonly routine: Shape<'RoutineDetail'> }) {
  const [field, setField] = useState<string>();
  const series = useRead(
    '/v1/routines/{routineId}/series',
    { path: { routineId: routine.id }, query: { limit: RUNS, ...(field === undefined ? {} : { field }) } },
    { everyMs: 30_000, keepPrevious: true },
  );
  return (
    <Await of={series} skeleton={<SkeletonRows />} errorTitle="The data could not be read">
      {(found) =>
        found.field === null ? (
          <EmptyState icon={ChartLine} title="No numbers yet">
            When results contain numbers, this page shows how they change.
          </EmptyState>
        ) : (
          <Numbers name={routine.name} series={found} field={found.field} onField={setField} />
        )
      }
    </Await>
  );
}

interface NumbersProps {
  readonly name: string;
  readonly series: Series;
  readonly field: string;
  readonly onField: (field: string) => void;
}

function Numbers({ name, series, field, onField }: NumbersProps) {
  const [chosen, setChosen] = useState<SeriesItem['key']>(null);
  const item = itemOf(series, chosen) ?? series.items.find(hasMoved) ?? series.items[0];
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-3">
        {series.fields.length > 1 && (
          <Select
            compact
            label="Number"
            options={series.fields.map((each) => ({ value: each, label: each }))}
            value={field}
            onChange={onField}
          />
        )}
        <p className="text-sm text-muted">
          {`${plural(series.items.length, 'item')} over ${plural(series.runs.length, 'run')}`}
          {series.truncated && '; older items are left out'}
        </p>
        <Button
          size="sm"
          icon={Download}
          className="ml-auto"
          onClick={() => download(fileNameOf(`${name} ${field}`, new Date(), 'csv'), 'text/csv', seriesCsvOf(series))}
        >
          CSV
        </Button>
      </div>
      {item !== undefined && (
        <Box>
          <h3 className="mb-2 text-sm font-medium text-ink wrap-anywhere">{`${titleOfItem(item)}: ${field}`}</h3>
          <Line
            label={`${field} of ${titleOfItem(item)} over ${plural(series.runs.length, 'run')}; the table below has the last values.`}
            points={pointsOf(series, item)}
            format={shortCount}
            dayOf={date}
          />
        </Box>
      )}
      <TypedTableView
        table={tableOf(series, field)}
        rowAction={(row) => {
          const own = itemOf(series, row.key);
          return own === undefined ? null : (
            <SparkButton
              label={`Show ${titleOfItem(own)} in the chart`}
              values={valuesOf(own)}
              onClick={() => setChosen(own.key)}
            />
          );
        }}
      />
    </div>
  );
}

/** Tells whether a number has changed over the runs, so that a chart is useful. */
function hasMoved(item: SeriesItem): boolean {
  return new Set(valuesOf(item).filter((value) => value !== null)).size > 1;
}

const COLUMNS = { item: 'Item', last: 'Last', before: 'Before', lowest: 'Lowest', highest: 'Highest' } as const;

function tableOf(series: Series, field: string): TypedTable {
  const fields = Object.entries(COLUMNS).map(([name, title]): TypedField => ({
    name,
    title,
    description: undefined,
    format: undefined,
    isNumber: name !== 'item',
  }));
  const rows = series.items.map((item) => {
    const known = item.values.filter((value) => value !== null);
    const inOrder = valuesOf(item).flatMap((value) => value ?? []);
    return {
      id: `${typeof item.key} ${String(item.key)}`,
      key: item.key,
      item: {
        item: titleOfItem(item),
        last: item.values.at(-1) ?? null,
        before: (item.values.at(-1) === null ? known.at(-1) : known.at(-2)) ?? null,
        lowest: Math.min(...inOrder),
        highest: Math.max(...inOrder),
      },
      mark: 'same' as const,
      before: undefined,
    };
  });
  return { title: field, fields, rows, leftOut: [] };
}
