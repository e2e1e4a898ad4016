import { getRouteApi } from '@tanstack/react-router';
import { UserRoundCog } from 'lucide-react';
import { useState } from 'react';
import { useList, useRead } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { Await, EmptyState } from '#ui/parts/feedback.tsx';
import { PageHeader, Section } from '#ui/parts/page.tsx';
import { Pager } from '#ui/parts/pager.tsx';
import { Skeleton, SkeletonRows } from '#ui/parts/skeleton.tsx';
import { SignInResult } from '#ui/shell/sign-in-result.tsx';
import { AccountsTable } from './accounts-table.tsx';
import { ApiKeyDialog } from './api-key.tsx';
import type { ConnectProps } from './connect-props.ts';
import { DeviceCodeDialog } from './device-code.tsx';
import { ModelsDialog } from './models.tsx';
import { Providers } from './providers.tsx';
import { RevokeDialog } from './revoke.tsx';
import { SignInDialog } from './sign-in.tsx';

const { useSearch } = getRouteApi('/account/p/$projectId/model-accounts');

type Account = Shape<'ModelConnection'>;
type Provider = Shape<'ModelProvider'>;

interface Opened {
  readonly dialog: 'connect' | 'models' | 'revoke';
  readonly provider?: Provider | undefined;
  readonly account?: Account;
}

/** Lists the personal model accounts of the project, and the providers at which one can be connected. */
export function ModelAccountsPage() {
  const accounts = useList('/v1/model-connections', {}, { everyMs: 30_000 });
  const providers = useRead('/v1/model-connections/providers', {}, { everyMs: 60_000 });
  const [opened, setOpened] = useState<Opened>();
  const close = () => setOpened(undefined);
  const providerOf = ({ provider }: Account) =>
    providers.data?.find((each) => each.provider === provider);
  const viewerId = providers.data?.[0]?.viewer.userId;
  return (
    <>
      <PageHeader
        title="Model accounts"
        description="Run routines on your own account at a model provider. Only you can reconnect or revoke it."
      />
      <Returned accounts={accounts.data} />
      <Await
        of={accounts}
        skeleton={<SkeletonRows rows={3} />}
        errorTitle="The accounts could not be read"
      >
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState icon={UserRoundCog} title="No accounts connected">
              Routines use the models of this service. To run them on an account of your own,
              connect one at a provider below.
            </EmptyState>
          ) : (
            <>
              <AccountsTable
                accounts={rows}
                providers={providers.data}
                viewerId={viewerId ?? undefined}
                onModels={(account) => setOpened({ dialog: 'models', account })}
                onReconnect={(account) =>
                  setOpened({ dialog: 'connect', account, provider: providerOf(account) })
                }
                onRevoke={(account) => setOpened({ dialog: 'revoke', account })}
              />
              <Pager list={accounts} />
            </>
          )
        }
      </Await>
      <Section title="Providers" className="mt-10">
        <Await
          of={providers}
          skeleton={<ProvidersLoading />}
          errorTitle="The providers could not be read"
        >
          {(all) => (
            <Providers
              providers={all}
              onConnect={(provider) => setOpened({ dialog: 'connect', provider })}
            />
          )}
        </Await>
      </Section>
      {opened?.dialog === 'connect' && opened.provider !== undefined && (
        <ConnectDialog provider={opened.provider} account={opened.account} onClose={close} />
      )}
      {opened?.dialog === 'models' && opened.account !== undefined && (
        <ModelsDialog account={opened.account} onClose={close} />
      )}
      {opened?.dialog === 'revoke' && opened.account !== undefined && (
        <RevokeDialog account={opened.account} onClose={close} />
      )}
    </>
  );
}

/** Says how the sign-in of an account ended, and what comes next. */
function Returned({ accounts }: { readonly accounts: readonly Account[] | undefined }) {
  const { connected, error, requestId } = useSearch();
  if (connected === undefined && error === undefined) return null;
  const label = accounts?.find(({ id }) => id === connected)?.accountLabel ?? 'The account';
  return (
    <SignInResult error={error} requestId={requestId}>
      {label} is connected. Choose one of its models when you edit a routine.
    </SignInResult>
  );
}

function ProvidersLoading() {
  return (
    <div className="grid gap-3 md:grid-cols-2">
      {Array.from({ length: 4 }, (_, index) => (
        <Skeleton key={index} className="h-44 rounded-lg" />
      ))}
    </div>
  );
}

/** Connects an account in the way of its provider. */
function ConnectDialog(props: ConnectProps) {
  switch (props.provider.authType) {
    case 'device_code':
      return <DeviceCodeDialog {...props} />;
    case 'oauth':
      return <SignInDialog {...props} />;
    case 'api_key':
      return <ApiKeyDialog {...props} />;
    case 'managed':
      return null;
  }
}
