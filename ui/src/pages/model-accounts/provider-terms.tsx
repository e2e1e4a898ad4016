import type { Shape } from '#ui/api/types.ts';
import { cx } from '#ui/parts/cx.ts';
import { termsText } from './words.ts';

/** Says what the provider's terms are about such use, with a link to them. */
export function ProviderTerms({ provider }: { readonly provider: Shape<'ModelProvider'> }) {
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
