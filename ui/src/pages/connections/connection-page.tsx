import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { KeyRound, LogIn, Pencil, Trash2 } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { errorInWords } from '#ui/api/form.ts';
import { useList, useRead } from '#ui/api/read.ts';
import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { drawn } from '#ui/format/drawn.ts';
import { plural } from '#ui/format/numbers.ts';
import { Button } from '#ui/parts/button.tsx';
import { ConfirmByNameDialog } from '#ui/parts/dialog.tsx';
import { Await, Notice } from '#ui/parts/feedback.tsx';
import { Menu } from '#ui/parts/menu.tsx';
import { Box, KeyValue, PageHeader, Section, type Fact } from '#ui/parts/page.tsx';
import { SkeletonRows, SkeletonText } from '#ui/parts/skeleton.tsx';
import { StateBadge } from '#ui/parts/state.tsx';
import { DataTable } from '#ui/parts/table.tsx';
import { Time } from '#ui/parts/time.tsx';
import { authText } from './connections-table.tsx';
import { Returned } from './returned.tsx';
import { ToolsByRoutine } from './tools-by-routine.tsx';

const Reconnect = lazy(() => import('./reconnect.tsx'));
const RenameDialog = lazy(() => import('./rename.tsx'));

const { useParams, useSearch } = getRouteApi('/account/p/$projectId/connections/$connectionId');

/** Shows a connection: its state, its tools, and the routines that may call them. */
export function ConnectionPage() {
  const { projectId, connectionId } = useParams();
  const connection = useRead('/v1/connections/{connectionId}', { path: { connectionId } }, { everyMs: 30_000 });
  const back = {
    label: 'Connections',
    link: { to: '/p/$projectId/connections', params: { projectId } },
  } as const;
  return (
    <Await
      of={connection}
      errorTitle={
        connection.error?.status === 404 ? 'This connection does not exist' : 'The connection could not be read'
      }
      header={<PageHeader title="Connection" back={back} />}
      skeleton={<SkeletonText lines={6} />}
    >
      {(found) => <Opened connection={found} back={back} />}
    </Await>
  );
}

interface OpenedProps {
  readonly connection: Shape<'Connection'>;
  readonly back: NonNullable<Parameters<typeof PageHeader>[0]['back']>;
}

function Opened({ connection, back }: OpenedProps) {
  const { projectId } = useParams();
  const returned = useSearch();
  const navigate = useNavigate();
  const providers = useRead('/v1/connections/providers', {}, { staleMs: 600_000 });
  const provider = providers.data?.find(({ id }) => id === connection.provider);
  const [open, setOpen] = useState<'reconnect' | 'rename' | 'delete'>();
  const close = () => setOpen(undefined);
  const isTyped = connection.auth !== 'oauth';
  const canReconnect = connection.auth !== 'none' && (provider?.configured ?? true);
  const reconnect = (
    <Button
      icon={isTyped ? KeyRound : LogIn}
      kind={connection.state === 'ready' ? 'secondary' : 'primary'}
      onClick={() => setOpen('reconnect')}
    >
      {isTyped ? 'Replace credentials' : 'Sign in again'}
    </Button>
  );
  return (
    <>
      <PageHeader
        title={connection.name}
        badge={<StateBadge state={connection.state} />}
        back={back}
        actions={
          <>
            {canReconnect && reconnect}
            <Menu
              label="More actions"
              groups={[
                [{ label: 'Rename', icon: Pencil, onSelect: () => setOpen('rename') }],
                [
                  {
                    label: 'Delete',
                    icon: Trash2,
                    danger: true,
                    onSelect: () => setOpen('delete'),
                  },
                ],
              ]}
            />
          </>
        }
      />
      <Returned {...returned} connections={undefined} />
      {connection.error !== null && (
        <Notice tone="warn" className="mb-6">
          {connection.error.message} Until then, runs that need this connection fail.
        </Notice>
      )}
      <ConnectionFacts connection={connection} provider={provider} />
      <Section title="Tools" description="Each routine has its own list of tools that it may call.">
        <ToolsByRoutine connection={connection} />
      </Section>
      {provider?.listsAccounts === true && connection.state === 'ready' && (
        <Section title="Accounts" description={`What ${provider.name} lets this connection see.`}>
          <Accounts connectionId={connection.id} />
        </Section>
      )}
      <Suspense>
        {open === 'reconnect' && <Reconnect connection={connection} provider={provider} onClose={close} />}
        {open === 'rename' && <RenameDialog connection={connection} onClose={close} />}
      </Suspense>
      <DeleteConnection
        connection={connection}
        open={open === 'delete'}
        onClose={close}
        onDeleted={() => void navigate({ to: '/p/$projectId/connections', params: { projectId } })}
      />
    </>
  );
}

type Connection = Shape<'Connection'>;

/** Describes a connection: its address, its account and its age. */
function ConnectionFacts({
  connection,
  provider,
}: {
  readonly connection: Connection;
  readonly provider: Shape<'ConnectionProvider'> | undefined;
}) {
  const { url, auth, accountLabel, scopes, server, createdAt, checkedAt } = connection;
  const facts: readonly (Fact | false)[] = [
    connection.provider !== null && {
      label: 'Service',
      value: provider?.name ?? connection.provider,
    },
    accountLabel !== null && { label: 'Account', value: accountLabel },
    url !== null && { label: 'Address', value: <code className="font-mono text-xs">{url}</code> },
    { label: 'Access', value: authText(auth) },
    server !== null && { label: 'Server', value: drawn(serverText(server)) },
    scopes.length > 0 && {
      label: 'Allowed',
      value: <code className="font-mono text-xs">{scopes.join(' ')}</code>,
    },
    { label: 'Connected', value: <Time at={createdAt} /> },
    { label: 'Last checked', value: <Time at={checkedAt} as="relative" /> },
  ];
  return (
    <Box>
      <KeyValue facts={facts.filter((fact) => fact !== false)} />
    </Box>
  );
}

function serverText({ name, title, version, protocolVersion }: NonNullable<Connection['server']>) {
  return `${title ?? name} ${version} (MCP ${protocolVersion})`;
}

/** Lists the sites, properties or workspaces that a connection can see, by the provider's present list. */
function Accounts({ connectionId }: { readonly connectionId: string }) {
  const accounts = useRead('/v1/connections/{connectionId}/accounts', { path: { connectionId } }, { staleMs: 300_000 });
  return (
    <Await of={accounts} skeleton={<SkeletonRows rows={3} />} errorTitle="The accounts could not be read">
      {(rows) =>
        rows.length === 0 ? (
          <p className="text-sm text-muted">The provider lists no accounts for this sign-in.</p>
        ) : (
          <DataTable
            label="Accounts"
            rows={rows}
            keyOf={({ id }) => id}
            columns={[
              { key: 'name', header: 'Name', cell: ({ name }) => name },
              {
                key: 'id',
                header: 'Id',
                cell: ({ id }) => <code className="font-mono text-xs wrap-anywhere">{id}</code>,
              },
            ]}
          />
        )
      }
    </Await>
  );
}

interface DeleteConnectionProps {
  readonly connection: Shape<'Connection'>;
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

/** Asks for the name before a connection is deleted, and lists the consequences. */
function DeleteConnection({ connection, open, onClose, onDeleted }: DeleteConnectionProps) {
  const using = useList('/v1/routines', { query: { uses: connection.id, limit: 50 } });
  const remove = useSend('delete', '/v1/connections/{connectionId}', {
    refreshes: ['/v1/connections', '/v1/routines'],
    done: ({ draftedRoutineIds: { length } }) =>
      length === 0 ? 'Connection deleted' : `Connection deleted; ${plural(length, 'routine')} went back to draft`,
    onDone: onDeleted,
    showsError: true,
  });
  const names = using.data?.map(({ name }) => name);
  return (
    <ConfirmByNameDialog
      open={open}
      onClose={onClose}
      name={connection.name}
      title={`Delete ${connection.name}?`}
      description={
        connection.auth === 'oauth'
          ? 'The sign-in is erased here, and revoked at the provider if the provider supports that.'
          : 'The credentials of the connection are erased. This cannot be undone.'
      }
      action="Delete connection"
      busy={remove.isSending}
      error={errorInWords(remove.error)}
      onConfirm={() => remove.send({ path: { connectionId: connection.id } })}
    >
      {names !== undefined && names.length > 0 && (
        <div className="text-base text-ink">
          <p>
            {names.length === 1
              ? 'This routine uses tools of this connection, and will go back to draft:'
              : 'These routines use tools of this connection, and will go back to draft:'}
          </p>
          <ul className="mt-1 list-disc pl-5 text-muted">
            {names.slice(0, 5).map((name, index) => (
              <li key={index} className="wrap-anywhere">
                {name}
              </li>
            ))}
            {names.length > 5 && <li>{using.hasMore ? 'and more' : `and ${names.length - 5} more`}</li>}
          </ul>
        </div>
      )}
    </ConfirmByNameDialog>
  );
}
