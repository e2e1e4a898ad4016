import type { Shape } from '#ui/api/types.ts';
import { Button } from '#ui/parts/button.tsx';
import { Badge } from '#ui/parts/state.tsx';
import { ProviderTerms } from './provider-terms.tsx';
import { badgeText, quotaText } from './words.ts';

type Provider = Shape<'ModelProvider'>;

/** Shows the providers, whose quota runs on them use, and why one cannot be connected. */
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

function Card({
  provider,
  onConnect,
}: {
  readonly provider: Provider;
  readonly onConnect: () => void;
}) {
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
            <p className="text-muted">{viewer.reason?.message ?? 'It cannot be connected now.'}</p>
          )}
        </div>
      )}
    </li>
  );
}
