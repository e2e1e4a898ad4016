import { Check, X } from 'lucide-react';
import type { Shape } from '#ui/api/types.ts';
import { humanize } from '#ui/format/run-words.ts';

/** Shows the verdicts of the routine's checks, which code has made and no model. */
export function Checks({ run }: { readonly run: Shape<'RunDetail'> }) {
  if (run.checks.length === 0) return null;
  return (
    <section className="mt-6" aria-labelledby="checks">
      <h2 id="checks" className="mb-2 text-sm font-semibold text-ink">
        Checks
      </h2>
      <ul className="flex flex-col gap-2">
        {run.checks.map(({ type, passed, detail }, index) => (
          <li key={`${type}-${index}`} className="flex gap-2">
            {passed ? (
              <Check aria-hidden className="mt-0.5 size-4 shrink-0 text-good" />
            ) : (
              <X aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
            )}
            <div className="min-w-0">
              <p className="text-sm text-ink">
                {humanize(type)}
                <span className="sr-only">{passed ? ', passed' : ', failed'}</span>
              </p>
              <p className="text-xs text-muted wrap-anywhere">{detail}</p>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
