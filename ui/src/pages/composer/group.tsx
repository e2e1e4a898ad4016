import { ChevronRight } from 'lucide-react';
import { useId, useState, type ReactNode } from 'react';
import { get, useFormContext, useWatch } from 'react-hook-form';
import { cx } from '#ui/parts/cx.ts';
import { GROUPS } from '#ui/parts/routine-fields.ts';
import { SUMMARIES, type Group as Title } from '#ui/parts/routine-summaries.ts';
import type { RoutineForm } from './form.ts';

export interface GroupProps {
  readonly title: Title;
  readonly children: ReactNode;
}

/** Shows a group of settings that most people leave unchanged. It opens if the server finds a fault in one. */
export function Group({ title, children }: GroupProps) {
  const { control, formState } = useFormContext<RoutineForm>();
  const summary = useWatch({ control, compute: SUMMARIES[title] });
  const isFaulty = GROUPS[title].some((field) => get(formState.errors, field) !== undefined);
  // A link may lead to a group: "who-is-told".
  const anchor = title.toLowerCase().replaceAll(' ', '-');
  const isAskedFor = location.hash === `#${anchor}`;
  const [chosen, setChosen] = useState(isAskedFor);
  const id = useId();
  const open = chosen || isFaulty;
  return (
    <section
      id={anchor}
      ref={isAskedFor ? scrolledTo : undefined}
      aria-labelledby={`${id}-title`}
      className="border-b border-line last:border-b-0"
    >
      <h3>
        <button
          type="button"
          aria-expanded={open}
          aria-controls={`${id}-body`}
          onClick={() => setChosen(!open)}
          className="ring-inside flex min-h-12 w-full items-center gap-3 rounded-md px-4 py-2 text-left hover:bg-hover"
        >
          <ChevronRight
            aria-hidden
            strokeWidth={1.75}
            className={cx('size-4 shrink-0 text-faint transition-transform duration-100', open && 'rotate-90')}
          />
          <span id={`${id}-title`} className="w-48 shrink-0 text-base font-medium text-ink max-sm:w-auto">
            {title}
          </span>
          <span
            className={cx(
              'min-w-0 grow truncate text-sm text-muted first-letter:uppercase max-sm:text-right',
              isFaulty && 'text-bad-ink',
            )}
          >
            {isFaulty ? 'Something here needs a change' : summary}
          </span>
        </button>
      </h3>
      {/* Hidden and not left out, so that what was typed inside stays. */}
      <div id={`${id}-body`} hidden={!open} className="px-4 pt-1 pb-5 sm:pl-11">
        <div className="flex flex-col gap-5">{children}</div>
      </div>
    </section>
  );
}

function scrolledTo(section: HTMLElement | null): void {
  section?.scrollIntoView({ block: 'center' });
}
