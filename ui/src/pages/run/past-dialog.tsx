import { useQueries } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '#ui/api/call.ts';
import { keyOf, useProjectId } from '#ui/api/project.ts';
import { useRead } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { memberOf } from '#ui/format/json-pointer.ts';
import { shortCount } from '#ui/format/numbers.ts';
import { numberBefore } from '#ui/format/past.ts';
import type { TypedField, TypedRow } from '#ui/format/typed-data.ts';
import { plainText } from '#ui/format/typed-values.ts';
import { date, dateTime } from '#ui/format/times.ts';
import { Dialog } from '#ui/parts/dialog.tsx';
import Line from '#ui/parts/line.tsx';
import { Select } from '#ui/parts/select.tsx';
import { Skeleton } from '#ui/parts/skeleton.tsx';
import { DataTable } from '#ui/parts/table.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';

export interface PastDialogProps {
  readonly run: Shape<'RunDetail'>;
  readonly row: TypedRow;
  /** The columns in which the item has a number. */
  readonly fields: readonly TypedField[];
  readonly onClose: () => void;
}

const RUNS = 12;
const DIFF = '/v1/runs/{runId}/diff';

/** Shows a number of an item over the last runs, up to this one. */
export default function PastDialog({ run, row, fields, onClose }: PastDialogProps) {
  const [name, setName] = useState(fields[0]?.name ?? '');
  const { isPending, points } = usePast(run, row, name);
  const title = fields.find((field) => field.name === name)?.title ?? name;
  return (
    <Dialog
      open
      onClose={onClose}
      size="md"
      title={`${String(row.key)} over the last runs`}
      description="The runs up to this one that have the same item."
    >
      {fields.length > 1 && (
        <Select
          label="Number"
          options={fields.map((field) => ({ value: field.name, label: field.title }))}
          value={name}
          onChange={setName}
        />
      )}
      {isPending ? (
        <div aria-busy="true">
          <Skeleton className="h-40 w-full" />
        </div>
      ) : (
        <>
          <Line
            label={`${title} of ${String(row.key)} over ${points.length} runs; the table below has the numbers.`}
            points={points}
            format={shortCount}
            dayOf={date}
          />
          <DataTable
            label={`${title} by run`}
            rows={points.toReversed()}
            keyOf={({ key }) => key}
            columns={[
              {
                key: 'run',
                header: 'Run',
                cell: ({ key, label }) => <RunLink id={key} label={label} />,
              },
              {
                key: 'value',
                header: title,
                width: 'w-32',
                align: 'right',
                cell: ({ value }) => (value === null ? 'not there' : plainText(value)),
              },
            ]}
          />
        </>
      )}
    </Dialog>
  );
}

function RunLink({ id, label }: { readonly id: string; readonly label: string }) {
  const projectId = useProjectId();
  return (
    <TextLink to="/p/$projectId/runs/$runId" params={{ projectId, runId: id }}>
      {label}
    </TextLink>
  );
}

/** Reads how the runs before differ from this one; each knows its own value by that. */
function usePast(run: Shape<'RunDetail'>, row: TypedRow, name: string) {
  const projectId = useProjectId();
  const { routineId } = run;
  const runs = useRead('/v1/routines/{routineId}/runs', {
    path: { routineId },
    query: { state: 'succeeded', until: run.createdAt, limit: RUNS - 1 },
  });
  const earlier = runs.data ?? [];
  const diffs = useQueries({
    queries: earlier.map(({ id: against }) => {
      const input = { path: { runId: run.id }, query: { against } };
      return {
        queryKey: keyOf(projectId, DIFF, input),
        queryFn: ({ signal }: { signal: AbortSignal }) => call('get', DIFF, input, { projectId, signal }),
        staleTime: 600_000,
        // A run without data has no place in the chart.
        retry: false,
      };
    }),
  });
  const now = memberOf(row.item, name);
  const [value, key] = [typeof now === 'number' ? now : null, row.key];
  const points = [
    { ...placeOf(run), value },
    ...earlier.flatMap((each, index) => {
      const diff = diffs[index]?.data?.data;
      if (diff === undefined || value === null || key === null) return [];
      return [{ ...placeOf(each), value: numberBefore(value, key, name, diff) }];
    }),
  ].toReversed();
  return { isPending: runs.isPending || diffs.some((each) => each.isPending), points };
}

function placeOf({ id, startedAt, createdAt }: Pick<Shape<'Run'>, 'id' | 'startedAt' | 'createdAt'>) {
  const at = new Date(startedAt ?? createdAt);
  return { key: id, at, label: dateTime(at) };
}
