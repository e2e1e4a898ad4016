import { useProjectId } from '#ui/api/project.ts';
import type { Shape } from '#ui/api/types.ts';
import { StateBadge } from '#ui/parts/state.tsx';
import { DataTable, RowLink, type Column } from '#ui/parts/table.tsx';
import { Time } from '#ui/parts/time.tsx';

type Connection = Shape<'Connection'>;

export interface ConnectionsTableProps {
  readonly connections: readonly Connection[];
  readonly providers: readonly Shape<'ConnectionProvider'>[];
}

/** Lists connections with their addresses and states. */
export function ConnectionsTable({ connections, providers }: ConnectionsTableProps) {
  const columns: readonly Column<Connection>[] = [
    {
      key: 'name',
      header: 'Name',
      width: 'w-56',
      cell: (connection) => <NameLink connection={connection} />,
    },
    {
      key: 'leads',
      header: 'Leads to',
      cell: (connection) => {
        const text = destination(connection, providers);
        return (
          <span className="block truncate max-sm:whitespace-normal max-sm:wrap-anywhere" title={text}>
            {text}
          </span>
        );
      },
    },
    {
      key: 'auth',
      header: 'Access',
      width: 'w-32',
      from: 'md',
      cell: ({ auth }) => authText(auth),
    },
    {
      key: 'state',
      header: 'State',
      width: 'w-36',
      bare: true,
      cell: ({ state, error }) => (
        <>
          <StateBadge state={state} reason={error?.message} />
          {error !== null && <span className="sr-only">{error.message}</span>}
        </>
      ),
    },
    {
      key: 'checked',
      header: 'Last checked',
      width: 'w-32',
      from: 'lg',
      cell: ({ checkedAt }) => <Time at={checkedAt} as="relative" />,
    },
  ];
  return <DataTable label="Connections" columns={columns} rows={connections} keyOf={({ id }) => id} />;
}

function NameLink({ connection }: { readonly connection: Connection }) {
  const projectId = useProjectId();
  return (
    <RowLink to="/p/$projectId/connections/$connectionId" params={{ projectId, connectionId: connection.id }}>
      {connection.name}
    </RowLink>
  );
}

function destination(
  { provider, accountLabel, url }: Connection,
  providers: ConnectionsTableProps['providers'],
): string {
  if (provider === null) return url ?? 'A tool server';
  const name = providers.find(({ id }) => id === provider)?.name ?? provider;
  return accountLabel === null ? name : `${name}, ${accountLabel}`;
}

const AUTHS: Readonly<Record<Connection['auth'], string>> = {
  none: 'No credentials',
  bearer: 'Bearer token',
  headers: 'Headers',
  oauth: 'Sign-in',
  api_key: 'API key',
};

/** Names how requests of a connection are authenticated. */
export function authText(auth: Connection['auth']): string {
  return AUTHS[auth];
}

const CATEGORIES: Readonly<Record<Shape<'ConnectionProvider'>['category'], string>> = {
  analytics: 'Analytics',
  seo: 'Search',
  crm: 'CRM',
  content: 'Content',
  communication: 'Communication',
  development: 'Development',
  planning: 'Planning',
  payments: 'Payments',
};

export function categoryText(category: Shape<'ConnectionProvider'>['category']): string {
  return CATEGORIES[category];
}
