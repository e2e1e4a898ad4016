import { ChevronRight } from 'lucide-react';
import { useId, useState, type ReactNode } from 'react';
import { get, useFormState } from 'react-hook-form';
import { cx } from '#ui/parts/cx.ts';
import { GROUPS } from '#ui/parts/routine-fields.ts';

const { 'What it does': _, Schedule: __, ...rest } = GROUPS;
const FIELDS = Object.values(rest).flat();

/** Shows the settings that most routines leave unchanged, opened if the server finds a fault in one of them. */
export function Advanced({ startsOpen, children }: { readonly startsOpen: boolean; readonly children: ReactNode }) {
  const { errors } = useFormState();
  const [chosen, setChosen] = useState(startsOpen);
  const id = useId();
  const open = chosen || FIELDS.some((field) => get(errors, field) !== undefined);
  return (
    <section aria-labelledby={`${id}-title`} className="mt-8">
      <h2>
        <button
          type="button"
          id={`${id}-title`}
          aria-expanded={open}
          aria-controls={id}
          onClick={() => setChosen(!open)}
          className="flex min-h-9 items-center gap-2 rounded-md text-base font-semibold text-ink pointer-coarse:min-h-11"
        >
          <ChevronRight aria-hidden className={cx('size-4 text-faint transition-transform', open && 'rotate-90')} />
          Advanced
        </button>
      </h2>
      <p className="mb-2 text-sm text-muted">Most routines need no change here.</p>
      {/* Hidden instead of removed, so that typed values stay. */}
      <div id={id} hidden={!open}>
        {children}
      </div>
    </section>
  );
}
