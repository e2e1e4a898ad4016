import { getRouteApi } from '@tanstack/react-router';
import { Cable, Plus } from 'lucide-react';
import { useState } from 'react';
import { useList, useRead } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { Button } from '#ui/parts/button.tsx';
import { Await, EmptyState } from '#ui/parts/feedback.tsx';
import { PageHeader, Section } from '#ui/parts/page.tsx';
import { listInWords } from '#ui/parts/routine-fields.ts';
import { Pager } from '#ui/parts/pager.tsx';
import { Skeleton, SkeletonRows } from '#ui/parts/skeleton.tsx';
import { ConnectProviderDialog } from './connect-provider.tsx';
import { ConnectServerDialog } from './connect-server.tsx';
import { authText, categoryText, ConnectionsTable } from './connections-table.tsx';
import { Returned } from './returned.tsx';

const { useSearch } = getRouteApi('/account/p/$projectId/connections');

/** Lists the connections of this project, and other services that can be connected. */
export function ConnectionsPage() {
  const returned = useSearch();
  const connections = useList('/v1/connections', {}, { everyMs: 30_000 });
  const providers = useRead('/v1/connections/providers', {}, { staleMs: 600_000 });
  const [isConnecting, setConnecting] = useState(false);
  const [provider, setProvider] = useState<Shape<'ConnectionProvider'>>();
  const connect = (
    <Button kind="primary" icon={Plus} onClick={() => setConnecting(true)}>
      Connect a tool server
    </Button>
  );
  return (
    <>
      <PageHeader
        title="Connections"
        description="Tools of other services. A routine can call a tool once you have confirmed it for that routine."
        actions={connect}
      />
      <Returned {...returned} connections={connections.data} />
      <Await of={connections} skeleton={<SkeletonRows rows={3} />} errorTitle="The connections could not be read">
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState icon={Cable} title="Nothing connected yet" action={connect}>
              Connect your own tool server by its address, or connect one of the services below.
            </EmptyState>
          ) : (
            <>
              <ConnectionsTable connections={rows} providers={providers.data ?? []} />
              <Pager list={connections} />
            </>
          )
        }
      </Await>
      <Section title="Services" className="mt-10">
        <Await of={providers} skeleton={<ProvidersLoading />} errorTitle="The services could not be read">
          {(all) => <Providers providers={all} onConnect={setProvider} />}
        </Await>
      </Section>
      <ConnectServerDialog open={isConnecting} onClose={() => setConnecting(false)} />
      {provider !== undefined && <ConnectProviderDialog provider={provider} onClose={() => setProvider(undefined)} />}
    </>
  );
}

function ProvidersLoading() {
  return (
    <div className="grid gap-3 sm:grid-cols-2 xl:grid-cols-3">
      {Array.from({ length: 6 }, (_, index) => (
        <Skeleton key={index} className="h-20 rounded-lg" />
      ))}
    </div>
  );
}

type Provider = Shape<'ConnectionProvider'>;

/** Shows the services that can be connected, and which of them the operator has not set up. */
function Providers({
  providers,
  onConnect,
}: {
  readonly providers: readonly Provider[];
  readonly onConnect: (provider: Provider) => void;
}) {
  const { ready = [], others = [] } = Object.groupBy(providers, ({ configured }) => (configured ? 'ready' : 'others'));
  return (
    <>
      <ul className="grid gap-3 empty:hidden sm:grid-cols-2 xl:grid-cols-3">
        {ready.map((provider) => (
          <li
            key={provider.id}
            className="flex items-center justify-between gap-3 rounded-lg border border-line bg-surface px-4 py-3"
          >
            <div className="min-w-0">
              <h3 className="truncate text-base font-medium text-ink">{provider.name}</h3>
              <p className="text-sm text-muted">
                {categoryText(provider.category)} · {authText(provider.auth)}
              </p>
            </div>
            <Button size="sm" onClick={() => onConnect(provider)}>
              Connect<span className="sr-only"> {provider.name}</span>
            </Button>
          </li>
        ))}
      </ul>
      {others.length > 0 && (
        <p className="mt-3 text-sm text-muted">
          {listInWords(others.map(({ name }) => name))} can be connected once the operator of this service has set them
          up.
        </p>
      )}
    </>
  );
}
