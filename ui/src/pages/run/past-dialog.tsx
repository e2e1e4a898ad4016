import { useState } from 'react';
import { useProjectId } from '#ui/api/project.ts';
import { useRead } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { shortCount } from '#ui/format/numbers.ts';
import { itemOf, pointsOf } from '#ui/format/series.ts';
import type { TypedField, TypedRow } from '#ui/format/typed-data.ts';
import { plainText } from '#ui/format/typed-values.ts';
import { date } from '#ui/format/times.ts';
import { Dialog } from '#ui/parts/dialog.tsx';
import { Await } from '#ui/parts/feedback.tsx';
import Line, { type LinePoint } from '#ui/parts/line.tsx';
import { Select } from '#ui/parts/select.tsx';
import { Skeleton } from '#ui/parts/skeleton.tsx';
import { DataTable } from '#ui/parts/table.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';
import { RUNS } from './keyed-data.tsx';

export interface PastDialogProps {
  readonly run: Shape<'RunDetail'>;
  readonly row: TypedRow;
  /** The columns in which the item has a number. */
  readonly fields: readonly TypedField[];
  readonly onClose: () => void;
}

/** Shows a numeric field of an item over the last runs, up to this one. */
export default function PastDialog({ run, row, fields, onClose }: PastDialogProps) {
  const [name, setName] = useState(fields[0]?.name ?? '');
  const series = useRead(
    '/v1/routines/{routineId}/series',
    { path: { routineId: run.routineId }, query: { upTo: run.id, limit: RUNS, field: name, key: String(row.key) } },
    { staleMs: 600_000 },
  );
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
      <Await of={series} skeleton={<Skeleton className="h-40 w-full" />} errorTitle="The numbers could not be read">
        {(found) => {
          const item = itemOf(found, row.key);
          return item === undefined ? (
            <p className="text-base text-muted">No run has this number.</p>
          ) : (
            <Past title={title} points={pointsOf(found, item)} item={String(row.key)} />
          );
        }}
      </Await>
    </Dialog>
  );
}

interface PastProps {
  readonly title: string;
  readonly item: string;
  readonly points: readonly LinePoint[];
}

function Past({ title, item, points }: PastProps) {
  return (
    <>
      <Line
        label={`${title} of ${item} over ${points.length} runs; the table below has the numbers.`}
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
