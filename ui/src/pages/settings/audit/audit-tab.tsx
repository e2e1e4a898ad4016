import { getRouteApi } from '@tanstack/react-router';
import { ScrollText } from 'lucide-react';
import { useList, useRead } from '#ui/api/read.ts';
import { Button } from '#ui/parts/button.tsx';
import { Await, EmptyState } from '#ui/parts/feedback.tsx';
import { Section } from '#ui/parts/page.tsx';
import { Pager } from '#ui/parts/pager.tsx';
import { Select } from '#ui/parts/select.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { DataTable, type Column } from '#ui/parts/table.tsx';
import { Time } from '#ui/parts/time.tsx';
import { mayChange, OfOrganization, type Organization } from '../of-organization.tsx';
import { ACTION_CHOICES, actionName, detailLine, type Action, type AuditEvent } from './words.ts';

const { useNavigate, useSearch } = getRouteApi('/account/p/$projectId/settings');

/** Lists who changed what in the organization, when and from where. */
export function AuditTab() {
  return (
    <OfOrganization>
      {(organization) =>
        mayChange(organization) ? (
          <Log organization={organization} />
        ) : (
          <EmptyState icon={ScrollText} title="For owners and admins">
            Owners and admins see who changed what in {organization.name}. Ask one of them.
          </EmptyState>
        )
      }
    </OfOrganization>
  );
}

function Log({ organization }: { readonly organization: Organization }) {
  const { action, project, person } = useSearch();
  const navigate = useNavigate();
  const events = useList(
    '/v1/audit-events',
    {
      query: {
        organizationId: organization.id,
        ...(isAction(action) && { action }),
        ...(project !== undefined && { projectId: project }),
        ...(person !== undefined && { actorId: person }),
      },
    },
    { everyMs: 30_000, keepPrevious: true },
  );
  const isFiltered = action !== undefined || project !== undefined || person !== undefined;
  return (
    <Section title="Audit log" description="Who changed what, when and from where. No entry can be altered.">
      <AuditFilters organizationId={organization.id} />
      <Await of={events} skeleton={<SkeletonRows />} errorTitle="The audit log could not be read">
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState
              icon={ScrollText}
              title={isFiltered ? 'Nothing fits these filters' : 'Nothing has been changed yet'}
              action={
                isFiltered && (
                  <Button onClick={() => void navigate({ search: { tab: 'audit' } })}>Clear the filters</Button>
                )
              }
            />
          ) : (
            <>
              <AuditTable events={rows} organizationId={organization.id} />
              <Pager list={events} />
            </>
          )
        }
      </Await>
    </Section>
  );
}

function isAction(text: string | undefined): text is Action {
  return ACTION_CHOICES.some(({ value }) => value === text);
}

const ALL = 'all';

/** Filters the changes that are shown; the choice is kept in the address. */
function AuditFilters({ organizationId }: { readonly organizationId: string }) {
  const { action, project, person } = useSearch();
  const navigate = useNavigate();
  const members = useRead('/v1/organizations/{organizationId}/members', {
    path: { organizationId },
  });
  const projects = useRead('/v1/projects', { query: { organizationId, limit: 200 } });
  const set = (name: 'action' | 'project' | 'person') => (value: string) =>
    void navigate({ search: (now) => ({ ...now, [name]: value === ALL ? undefined : value }) });
  return (
    <div className="mb-3 flex flex-wrap gap-2">
      <Select
        compact
        label="Kind of change"
        options={[{ value: ALL, label: 'Every change' }, ...ACTION_CHOICES]}
        value={action ?? ALL}
        onChange={set('action')}
      />
      <Select
        compact
        label="Person"
        options={[
          { value: ALL, label: 'Everybody' },
          ...(members.data ?? []).map(({ userId, name, email }) => ({
            value: userId,
            label: name,
            hint: email,
          })),
        ]}
        value={person ?? ALL}
        onChange={set('person')}
      />
      <Select
        compact
        label="Project"
        options={[
          { value: ALL, label: 'All projects' },
          ...(projects.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
        ]}
        value={project ?? ALL}
        onChange={set('project')}
      />
    </div>
  );
}

interface AuditTableProps {
  readonly events: readonly AuditEvent[];
  readonly organizationId: string;
}

function AuditTable({ events, organizationId }: AuditTableProps) {
  const members = useRead('/v1/organizations/{organizationId}/members', {
    path: { organizationId },
  });
  const names = new Map((members.data ?? []).map(({ userId, name }) => [userId, name]));
  return <DataTable label="Audit log" columns={columnsFor(names)} rows={events} keyOf={({ id }) => id} />;
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
        address === null ? <span className="text-faint">–</span> : <code className="font-mono text-xs">{address}</code>,
    },
    {
      key: 'when',
      header: 'When',
      width: 'w-36',
      cell: ({ createdAt }) => <Time at={createdAt} />,
    },
  ];
}

function Details({ event, names }: { readonly event: AuditEvent; readonly names: ReadonlyMap<string, string> }) {
  const line = detailLine(event);
  const target = names.get(event.targetId);
  return (
    <span className="block min-w-0 max-sm:wrap-anywhere sm:truncate" title={`${line}\n${event.targetId}`}>
      {target !== undefined && <span className="text-ink">{target}</span>}
      {target !== undefined && line !== '' && ' '}
      {line === '' && target === undefined ? <code className="font-mono text-xs">{event.targetId}</code> : line}
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
