import type { Shape } from '#ui/api/types.ts';
import { ProviderTerms } from './provider-terms.tsx';
import { quotaText } from './words.ts';

/** Says what to know before an account is connected: who pays, and what the provider's terms say. */
export function BeforeConnecting({ provider }: { readonly provider: Shape<'ModelProvider'> }) {
  return (
    <div className="flex flex-col gap-1.5 rounded-lg bg-sunken px-3.5 py-3 text-sm">
      <p className="text-ink">{quotaText(provider)}</p>
      <ProviderTerms provider={provider} />
      <p className="text-muted">
        Every member of this project can run routines on it, also unattended by schedule, and sees
        its label. Only you can reconnect or revoke it.
      </p>
    </div>
  );
}
