import { getRouteApi } from '@tanstack/react-router';
import { UserRoundCog } from 'lucide-react';
import { useState } from 'react';
import { errorInWords } from '#ui/api/form.ts';
import { useList, useRead } from '#ui/api/read.ts';
import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { plural, shortCount } from '#ui/format/numbers.ts';
import { Button } from '#ui/parts/button.tsx';
import { ConfirmDialog, Dialog } from '#ui/parts/dialog.tsx';
import { Await, EmptyState } from '#ui/parts/feedback.tsx';
import { PageHeader, Section } from '#ui/parts/page.tsx';
import { Pager } from '#ui/parts/pager.tsx';
import { Skeleton, SkeletonRows } from '#ui/parts/skeleton.tsx';
import { SignInResult } from '#ui/shell/sign-in-result.tsx';
import { AccountsTable } from './accounts-table.tsx';
import { ApiKeyDialog } from './api-key.tsx';
import { DeviceCodeDialog } from './device-code.tsx';
import { Providers, type ConnectProps } from './providers.tsx';
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
  const providers = useRead('/v1/model-connections/providers', {}, { everyMs: 15_000 });
  const [opened, setOpened] = useState<Opened>();
  const close = () => setOpened(undefined);
  const providerOf = ({ provider }: Account) => providers.data?.find((each) => each.provider === provider);
  const viewerId = providers.data?.[0]?.viewer.userId;
  return (
    <>
      <PageHeader
        title="Model accounts"
        description="Run routines on your own account at a model provider. Only you can reconnect or revoke it."
      />
      <Returned accounts={accounts.data} />
      <Await of={accounts} skeleton={<SkeletonRows rows={3} />} errorTitle="The accounts could not be read">
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState icon={UserRoundCog} title="No accounts connected">
              Routines use the models of this service. To run routines on an account of your own, connect an account at
              a provider below.
            </EmptyState>
          ) : (
            <>
              <AccountsTable
                accounts={rows}
                providers={providers.data}
                viewerId={viewerId ?? undefined}
                onModels={(account) => setOpened({ dialog: 'models', account })}
                onReconnect={(account) => setOpened({ dialog: 'connect', account, provider: providerOf(account) })}
                onRevoke={(account) => setOpened({ dialog: 'revoke', account })}
              />
              <Pager list={accounts} />
            </>
          )
        }
      </Await>
      <Section title="Providers" className="mt-10">
        <Await of={providers} skeleton={<ProvidersLoading />} errorTitle="The providers could not be read">
          {(all) => <Providers providers={all} onConnect={(provider) => setOpened({ dialog: 'connect', provider })} />}
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

/** Shows how the sign-in of an account ended, and the next step. */
function Returned({ accounts }: { readonly accounts: readonly Account[] | undefined }) {
  const { connected, error, requestId } = useSearch();
  if (connected === undefined && error === undefined) return null;
  const label = accounts?.find(({ id }) => id === connected)?.accountLabel ?? 'The account';
  return (
    <SignInResult error={error} requestId={requestId}>
      {label} is connected. Choose a model of this account when you edit a routine.
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

/** Connects an account by the kind of sign-in that its provider has. */
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

/** Asks before an account is revoked, and says which routines that stops. */
function RevokeDialog({
  account,
  onClose,
}: {
  readonly account: Shape<'ModelConnection'>;
  readonly onClose: () => void;
}) {
  const using = useList('/v1/routines', { query: { uses: account.id, limit: 50 } });
  const revoke = useSend('post', '/v1/model-connections/{connectionId}/revoke', {
    refreshes: ['/v1/model-connections', '/v1/models', '/v1/routines'],
    done: 'Account revoked',
    onDone: onClose,
    showsError: true,
  });
  const active = using.data?.filter(({ state }) => state === 'active');
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={`Revoke ${account.accountLabel}?`}
      description={
        <>
          <p>
            {pauses(
              active?.map(({ name }) => name),
              using.hasMore,
            )}
          </p>
          <p className="mt-2">
            Runs that are under way can no longer call this account. Its credential is erased here, and revoked at{' '}
            {account.providerName} if the provider supports that. To use the account again, connect it again.
          </p>
        </>
      }
      action="Revoke account"
      busy={revoke.isSending}
      error={errorInWords(revoke.error)}
      onConfirm={() => revoke.send({ path: { connectionId: account.id } })}
    />
  );
}

function pauses(active: readonly string[] | undefined, hasMore: boolean): string {
  if (active === undefined) return 'Active routines that run on this account pause.';
  if (active.length === 0) return 'No active routine runs on this account.';
  if (active.length > 3 || hasMore) {
    return `${plural(active.length, 'routine')}${hasMore ? ' or more' : ''} that run on this account pause.`;
  }
  const names = new Intl.ListFormat('en').format(active);
  return `${names} ${active.length === 1 ? 'runs' : 'run'} on this account and ${active.length === 1 ? 'pauses' : 'pause'}.`;
}

/** Lists the models that an account offers, by the last report of its provider. */
function ModelsDialog({
  account,
  onClose,
}: {
  readonly account: Shape<'ModelConnection'>;
  readonly onClose: () => void;
}) {
  const models = useRead('/v1/model-connections/{connectionId}/models', {
    path: { connectionId: account.id },
  });
  return (
    <Dialog
      open
      onClose={onClose}
      size="md"
      title={`Models of ${account.accountLabel}`}
      description="Choose one of these models when you edit a routine."
      actions={<Button onClick={onClose}>Close</Button>}
    >
      <Await of={models} skeleton={<SkeletonRows rows={4} />} errorTitle="The models could not be read">
        {(rows) =>
          rows.length === 0 ? (
            <p className="text-base text-muted">The provider lists no models for this account.</p>
          ) : (
            <ul className="flex flex-col">
              {rows.map(({ modelId, name, contextTokens }) => (
                <li
                  key={modelId}
                  className="flex items-baseline justify-between gap-4 border-b border-line py-2 text-sm last:border-b-0"
                >
                  <span className="min-w-0">
                    <span className="block text-ink wrap-anywhere">{name}</span>
                    {name !== modelId && <code className="font-mono text-xs text-muted wrap-anywhere">{modelId}</code>}
                  </span>
                  {contextTokens !== null && (
                    <span className="shrink-0 text-muted tabular">{shortCount(contextTokens)} tokens</span>
                  )}
                </li>
              ))}
            </ul>
          )
        }
      </Await>
    </Dialog>
  );
}
