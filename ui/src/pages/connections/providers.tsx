import type { Shape } from '#ui/api/types.ts';
import { Button } from '#ui/parts/button.tsx';
import { authText, categoryText } from './words.ts';

type Provider = Shape<'ConnectionProvider'>;

/** Shows the services that can be connected, and which of them the operator has not set up. */
export function Providers({
  providers,
  onConnect,
}: {
  readonly providers: readonly Provider[];
  readonly onConnect: (provider: Provider) => void;
}) {
  return (
    <ul className="grid gap-3 sm:grid-cols-2 xl:grid-cols-3">
      {providers.map((provider) => (
        <li
          key={provider.id}
          className="flex items-center justify-between gap-3 rounded-lg border border-line bg-surface px-4 py-3"
        >
          <div className="min-w-0">
            <h3 className="truncate text-base font-medium text-ink">{provider.name}</h3>
            <p className="text-sm text-muted">
              {categoryText(provider.category)} ·{' '}
              {provider.configured ? authText(provider.auth) : 'Not set up'}
            </p>
          </div>
          <Button
            size="sm"
            disabledReason={
              provider.configured
                ? undefined
                : 'The operator of this service has not registered it there.'
            }
            onClick={() => onConnect(provider)}
          >
            Connect<span className="sr-only"> {provider.name}</span>
          </Button>
        </li>
      ))}
    </ul>
  );
}
