import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { KeyRound, LogIn, Pencil, Trash2 } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useRead } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { Button } from '#ui/parts/button.tsx';
import { Await, Notice } from '#ui/parts/feedback.tsx';
import { Menu } from '#ui/parts/menu.tsx';
import { PageHeader, Section } from '#ui/parts/page.tsx';
import { SkeletonText } from '#ui/parts/skeleton.tsx';
import { StateBadge } from '#ui/parts/state.tsx';
import { Accounts } from './accounts.tsx';
import { ConnectionFacts } from './connection-facts.tsx';
import { DeleteConnection } from './delete-connection.tsx';
import { Returned } from './returned.tsx';
import { ToolsByRoutine } from './tools-by-routine.tsx';

const Reconnect = lazy(() => import('./reconnect.tsx'));
const RenameDialog = lazy(() => import('./rename.tsx'));

const { useParams, useSearch } = getRouteApi('/account/p/$projectId/connections/$connectionId');

/** Shows one connection: whether it works, what it can see, and which routines may call its tools. */
export function ConnectionPage() {
  const { projectId, connectionId } = useParams();
  const connection = useRead(
    '/v1/connections/{connectionId}',
    { path: { connectionId } },
    { everyMs: 30_000 },
  );
  const back = {
    label: 'Connections',
    link: { to: '/p/$projectId/connections', params: { projectId } },
  } as const;
  return (
    <Await
      of={connection}
      errorTitle={
        connection.error?.status === 404
          ? 'This connection does not exist'
          : 'The connection could not be read'
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
          {connection.error.message} Runs that need it fail until then.
        </Notice>
      )}
      <ConnectionFacts connection={connection} provider={provider} />
      <Section title="Tools" description="Each routine has its own list of what it may call.">
        <ToolsByRoutine connection={connection} />
      </Section>
      {provider?.listsAccounts === true && connection.state === 'ready' && (
        <Section title="Accounts" description={`What ${provider.name} lets this connection see.`}>
          <Accounts connectionId={connection.id} />
        </Section>
      )}
      <Suspense>
        {open === 'reconnect' && (
          <Reconnect connection={connection} provider={provider} onClose={close} />
        )}
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
