import { useRead } from '#ui/api/read.ts';
import { DataTable, type Column } from '#ui/parts/table.tsx';
import { Time } from '#ui/parts/time.tsx';
import { actionName, detailLine, type AuditEvent } from './words.ts';

export interface AuditTableProps {
  readonly events: readonly AuditEvent[];
  readonly organizationId: string;
}

export function AuditTable({ events, organizationId }: AuditTableProps) {
  const members = useRead('/v1/organizations/{organizationId}/members', {
    path: { organizationId },
  });
  const names = new Map((members.data ?? []).map(({ userId, name }) => [userId, name]));
  return (
    <DataTable label="Audit log" columns={columnsFor(names)} rows={events} keyOf={({ id }) => id} />
  );
}

function columnsFor(names: ReadonlyMap<string, string>): readonly Column<AuditEvent>[] {
  return [
    {
      key: 'action',
      header: 'What',
      width: 'sm:w-48',
      cell: ({ action }) => <span className="font-medium">{actionName(action)}</span>,
    },
    {
      key: 'details',
      header: 'Details',
      bare: true,
      cell: (event) => <Details event={event} names={names} />,
    },
    { key: 'who', header: 'Who', width: 'w-40', cell: ({ actor }) => <Who actor={actor} /> },
    {
      key: 'from',
      header: 'From',
      width: 'w-36',
      from: 'lg',
      cell: ({ actor: { address } }) =>
        address === null ? (
          <span className="text-faint">–</span>
        ) : (
          <code className="font-mono text-xs">{address}</code>
        ),
    },
    {
      key: 'when',
      header: 'When',
      width: 'w-36',
      cell: ({ createdAt }) => <Time at={createdAt} />,
    },
  ];
}

function Details({
  event,
  names,
}: {
  readonly event: AuditEvent;
  readonly names: ReadonlyMap<string, string>;
}) {
  const line = detailLine(event);
  const target = names.get(event.targetId);
  return (
    <span
      className="block min-w-0 max-sm:wrap-anywhere sm:truncate"
      title={`${line}\n${event.targetId}`}
    >
      {target !== undefined && <span className="text-ink">{target}</span>}
      {target !== undefined && line !== '' && ' '}
      {line === '' && target === undefined ? (
        <code className="font-mono text-xs">{event.targetId}</code>
      ) : (
        line
      )}
    </span>
  );
}

function Who({ actor }: Pick<AuditEvent, 'actor'>) {
  if (actor.kind === 'system') return 'The service';
  const name = actor.name ?? (actor.kind === 'key' ? 'A deleted key' : 'A deleted account');
  return (
    <span className="block truncate" {...(actor.id !== null && { title: actor.id })}>
      {actor.kind === 'key' ? `Key ${name}` : name}
    </span>
  );
}
