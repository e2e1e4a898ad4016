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

/** Shows settings that most people leave unchanged as a group, opened if the server finds a fault in one. */
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
          className={cx(
            'ring-inside flex min-h-12 w-full items-center gap-3 rounded-md px-4 py-2 text-left hover:bg-hover',
            open && 'bg-sunken',
          )}
        >
          <ChevronRight
            aria-hidden
            strokeWidth={1.75}
            className={cx('size-4 shrink-0 text-faint transition-transform duration-100', open && 'rotate-90')}
          />
          <span className="flex min-w-0 grow items-center gap-x-3 max-sm:flex-col max-sm:items-start">
            <span id={`${id}-title`} className="w-48 shrink-0 text-base font-medium text-ink">
              {title}
            </span>
            <span
              className={cx(
                'min-w-0 grow truncate text-sm text-muted first-letter:uppercase max-sm:w-full max-sm:whitespace-normal',
                isFaulty && 'text-bad-ink',
              )}
            >
              {isFaulty ? 'A field here needs a change' : summary}
            </span>
          </span>
        </button>
      </h3>
      {/* Hidden instead of removed, so that typed values stay. */}
      <div id={`${id}-body`} hidden={!open} className="px-4 pt-3 pb-5 sm:pl-11">
        <div className="flex flex-col gap-5">{children}</div>
      </div>
    </section>
  );
}

export interface PartProps {
  readonly title: string;
  readonly description?: string;
  readonly children: ReactNode;
}

/** Sets fields that belong together apart from the other fields of their group. */
export function Part({ title, description, children }: PartProps) {
  const id = useId();
  return (
    <div
      role="group"
      aria-labelledby={id}
      className="flex flex-col gap-4 border-t border-line pt-5 first:border-t-0 first:pt-1"
    >
      <div>
        <h4 id={id} className="text-base font-semibold text-ink">
          {title}
        </h4>
        {description !== undefined && <p className="mt-0.5 text-sm text-muted">{description}</p>}
      </div>
      {children}
    </div>
  );
}

function scrolledTo(section: HTMLElement | null): void {
  section?.scrollIntoView({ block: 'center' });
}
