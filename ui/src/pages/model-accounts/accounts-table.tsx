import { Boxes, LogIn, Unplug } from 'lucide-react';
import type { Shape } from '#ui/api/types.ts';
import { plural } from '#ui/format/numbers.ts';
import { Menu } from '#ui/parts/menu.tsx';
import { StateBadge } from '#ui/parts/state.tsx';
import { DataTable, type Column } from '#ui/parts/table.tsx';
import { Time } from '#ui/parts/time.tsx';

type Account = Shape<'ModelConnection'>;

export interface AccountsTableProps {
  readonly accounts: readonly Account[];
  /** Undefined until the providers have been read. */
  readonly providers: readonly Shape<'ModelProvider'>[] | undefined;
  /** Id of the person who looks at the page. */
  readonly viewerId: string | undefined;
  readonly onModels: (account: Account) => void;
  readonly onReconnect: (account: Account) => void;
  readonly onRevoke: (account: Account) => void;
}

/** Lists accounts with their owners and whether they work. */
export function AccountsTable({ accounts, providers, viewerId, onModels, onReconnect, onRevoke }: AccountsTableProps) {
  const columns: readonly Column<Account>[] = [
    {
      key: 'account',
      header: 'Account',
      cell: ({ accountLabel, providerName }) => (
        <span className="flex min-w-0 flex-col">
          <span className="truncate font-medium">{accountLabel}</span>
          <span className="truncate text-xs text-muted">{providerName}</span>
        </span>
      ),
    },
    {
      key: 'state',
      header: 'State',
      width: 'w-72',
      bare: true,
      cell: (account) => <AccountState account={account} />,
    },
    {
      key: 'owner',
      header: 'Owner',
      width: 'w-32',
      cell: ({ owner }) => (
        <span className="block truncate">{owner.userId === viewerId ? 'You' : (owner.name ?? 'Account deleted')}</span>
      ),
    },
    {
      key: 'models',
      header: 'Models',
      width: 'w-20',
      align: 'right',
      cell: ({ modelCount }) => modelCount,
    },
    {
      key: 'validated',
      header: 'Last accepted',
      width: 'w-32',
      from: 'md',
      cell: ({ validatedAt }) => <Time at={validatedAt} as="relative" />,
    },
  ];
  return (
    <DataTable
      label="Model accounts"
      columns={columns}
      rows={accounts}
      keyOf={({ id }) => id}
      isDim={({ status }) => status === 'revoked'}
      actionsWidth="w-12"
      actions={(account) => {
        if (account.status === 'revoked') return null;
        const reason = account.owner.userId === viewerId ? undefined : 'Only the owner of the account can do this.';
        const provider = providers?.find((each) => each.provider === account.provider);
        return (
          <Menu
            label={`Actions for ${account.accountLabel}`}
            groups={[
              [
                {
                  label: 'Models',
                  icon: Boxes,
                  onSelect: () => onModels(account),
                  disabledReason: account.status === 'ready' ? undefined : 'The account is not ready.',
                },
                {
                  label: 'Reconnect',
                  icon: LogIn,
                  onSelect: () => onReconnect(account),
                  disabledReason: reason ?? provider?.viewer.reason?.message,
                },
              ],
              [
                {
                  label: 'Revoke',
                  icon: Unplug,
                  danger: true,
                  onSelect: () => onRevoke(account),
                  disabledReason: reason,
                },
              ],
            ]}
          />
        );
      }}
    />
  );
}

function AccountState({ account }: { readonly account: Account }) {
  const { status, error, availableFrom, revocation } = account;
  return (
    <span className="flex min-w-0 flex-col items-start gap-0.5">
      <StateBadge state={status} />
      {error !== null && <span className="text-xs text-muted">{error.message}</span>}
      {availableFrom !== null && (
        <span className="text-xs text-muted">
          Allowance used up; available <Time at={availableFrom} as="countdown" />
        </span>
      )}
      {revocation !== null && (
        <span className="text-xs text-muted">
          <Time at={revocation.revokedAt} as="relative" />
          {revocation.pausedRoutineCount > 0 && `, ${plural(revocation.pausedRoutineCount, 'routine')} paused`},{' '}
          {REVOCATIONS[revocation.providerRevocation]}
        </span>
      )}
    </span>
  );
}

const REVOCATIONS: Readonly<Record<NonNullable<Account['revocation']>['providerRevocation'], string>> = {
  pending: 'the provider is being told',
  revoked: 'revoked at the provider too',
  unsupported: 'its credential is erased',
  failed: 'the credential is erased; the provider could not be reached',
};
