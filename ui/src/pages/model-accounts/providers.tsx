import type { Shape } from '#ui/api/types.ts';
import { Button } from '#ui/parts/button.tsx';
import { cx } from '#ui/parts/cx.ts';
import { Badge } from '#ui/parts/state.tsx';

type Provider = Shape<'ModelProvider'>;

/** Shows the providers, the payer of runs on them, and the reason why a provider cannot be connected. */
export function Providers({
  providers,
  onConnect,
}: {
  readonly providers: readonly Provider[];
  readonly onConnect: (provider: Provider) => void;
}) {
  return (
    <ul className="grid gap-3 md:grid-cols-2">
      {providers.map((provider) => (
        <Card key={provider.provider} provider={provider} onConnect={() => onConnect(provider)} />
      ))}
    </ul>
  );
}

function Card({ provider, onConnect }: { readonly provider: Provider; readonly onConnect: () => void }) {
  const { name, authType, viewer } = provider;
  return (
    <li className="flex flex-col gap-2 rounded-lg border border-line bg-surface p-4 text-sm">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h3 className="text-base font-medium text-ink">{name}</h3>
        <Badge>{badgeText(provider)}</Badge>
      </div>
      <p className="text-muted">{quotaText(provider)}</p>
      <ProviderTerms provider={provider} />
      {authType === 'managed' ? (
        <p className="text-muted">{viewer.reason?.message}</p>
      ) : (
        <div className="mt-auto flex flex-wrap items-center gap-3 pt-1">
          {viewer.canConnect ? (
            <Button size="sm" onClick={onConnect}>
              Connect<span className="sr-only"> an account at {name}</span>
            </Button>
          ) : (
            <p className="text-muted">{viewer.reason?.message ?? 'This provider cannot be connected now.'}</p>
          )}
        </div>
      )}
    </li>
  );
}

/** Says what the provider's terms allow, with a link. */
function ProviderTerms({ provider }: { readonly provider: Shape<'ModelProvider'> }) {
  const { terms } = provider;
  if (terms === null) return null;
  return (
    <p className={cx(terms.thirdPartyUse === 'allowed' ? 'text-muted' : 'text-warn-ink')}>
      {termsText(terms)}{' '}
      <a
        href={terms.page}
        target="_blank"
        rel="noreferrer noopener"
        className="rounded-sm font-medium text-accent-ink underline underline-offset-2"
      >
        Read its terms
      </a>
    </p>
  );
}

const QUOTAS: Readonly<Record<NonNullable<Provider['billing']>, string>> = {
  managed: 'Paid by the operator, within the allowance of your plan here.',
  subscription: 'Uses the allowance of your own subscription at the provider.',
  usage: 'Charged by use to your own account at the provider.',
};

/** Says whose quota runs use, and who pays. */
function quotaText({ billing }: Provider): string {
  return billing === null ? 'While the provider is switched off, it is not known who pays.' : QUOTAS[billing];
}

const USES: Readonly<Record<NonNullable<Provider['terms']>['thirdPartyUse'], string>> = {
  allowed: 'The terms of the provider allow use by a service like this one.',
  by_agreement: 'The terms of the provider allow use by a service only by agreement.',
  forbidden: 'The terms of the provider forbid use by a service. If you connect, you may lose the account.',
};

function termsText({ thirdPartyUse }: NonNullable<Provider['terms']>): string {
  return USES[thirdPartyUse];
}

const WAYS: Readonly<Record<Provider['authType'], string>> = {
  managed: 'Nothing to connect',
  device_code: 'By device code',
  oauth: 'By signing in',
  api_key: 'By API key',
};

/** Says how an account is connected or, in two words, why it cannot be connected. The API has the full reason. */
function badgeText({ authType, enabled, viewer }: Provider): string {
  if (enabled) return WAYS[authType];
  return viewer.reason?.code === 'provider_mismatch' ? 'Files differ' : 'Switched off';
}

/** Explains before an account is connected who pays, and what the provider's terms allow. */
export function BeforeConnecting({ provider }: { readonly provider: Shape<'ModelProvider'> }) {
  return (
    <div className="flex flex-col gap-1.5 rounded-lg bg-sunken px-3.5 py-3 text-sm">
      <p className="text-ink">{quotaText(provider)}</p>
      <ProviderTerms provider={provider} />
      <p className="text-muted">
        Every member of this project can run routines on the account, also unattended by schedule, and sees its label.
        Only you can reconnect or revoke it.
      </p>
    </div>
  );
}

export interface ConnectProps {
  readonly provider: Shape<'ModelProvider'>;
  /** Account to sign in to again; left out for a new account. */
  readonly account?: Shape<'ModelConnection'> | undefined;
  readonly onClose: () => void;
}
