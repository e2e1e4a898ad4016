import { Link, type LinkProps } from '@tanstack/react-router';
import { ChevronLeft } from 'lucide-react';
import { useId, type ReactNode } from 'react';
import { usePageTitle } from './page-title.ts';
import { cx } from './cx.ts';

export interface PageHeaderProps {
  readonly title: ReactNode;
  /** Title of the browser's tab, needed if `title` is not a text. */
  readonly documentTitle?: string;
  /** One sentence, if the title alone does not explain the page. */
  readonly description?: ReactNode;
  /** A state, shown next to the title. */
  readonly badge?: ReactNode;
  readonly actions?: ReactNode;
  /** Link to the page above: `{ label: 'Routines', link: { to: … } }`. */
  readonly back?: { readonly label: string; readonly link: LinkProps };
}

export function PageHeader({ title, documentTitle, description, badge, actions, back }: PageHeaderProps) {
  usePageTitle(documentTitle ?? (typeof title === 'string' ? title : undefined));
  return (
    <header className="mb-6">
      {back !== undefined && (
        <Link
          {...back.link}
          className="mb-1.5 -ml-1 inline-flex items-center gap-0.5 rounded-sm pr-1 text-sm text-muted hover:text-ink"
        >
          <ChevronLeft aria-hidden className="size-3.5" />
          {back.label}
        </Link>
      )}
      <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3">
        <div className="flex min-h-8 min-w-0 flex-wrap items-center gap-x-2.5 gap-y-1">
          <h1 className="text-xl font-semibold tracking-tight text-ink wrap-anywhere">{title}</h1>
          {badge}
        </div>
        {actions !== undefined && (
          // On a narrow page the buttons move below the description.
          <div className="flex flex-wrap items-center gap-2 max-sm:order-last">{actions}</div>
        )}
        {description !== undefined && (
          <div className="-mt-2 w-full">
            <p className="max-w-2xl text-base text-muted">{description}</p>
          </div>
        )}
      </div>
    </header>
  );
}

export interface SectionProps {
  readonly title: ReactNode;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  readonly className?: string;
  /** True to draw the section in a box of its own. */
  readonly boxed?: boolean;
}

/** Shows a part of a page under its heading. */
export function Section({ title, description, actions, children, className, boxed = false }: SectionProps) {
  const id = useId();
  return (
    <section aria-labelledby={id} className={cx('mt-8 first:mt-0 [header+&]:mt-0', className)}>
      <div className="mb-2 flex flex-wrap items-end justify-between gap-x-6 gap-y-2">
        <div>
          <h2 id={id} className="text-base font-semibold text-ink">
            {title}
          </h2>
          {description !== undefined && <p className="mt-0.5 max-w-2xl text-sm text-muted">{description}</p>}
        </div>
        {actions !== undefined && <div className="flex items-center gap-2">{actions}</div>}
      </div>
      {boxed ? <Box>{children}</Box> : children}
    </section>
  );
}

/** Draws a quiet frame around parts that belong together. */
export function Box({ children, className }: { readonly children: ReactNode; readonly className?: string }) {
  return (
    <div data-box="" className={cx('min-w-0 rounded-lg border border-line bg-surface p-4', className)}>
      {children}
    </div>
  );
}

export interface Fact {
  readonly label: string;
  readonly value: ReactNode;
}

/** Lists the facts of one thing, in a list or in a row of columns. */
export function KeyValue({
  facts,
  inline = false,
  narrow = false,
}: {
  readonly facts: readonly Fact[];
  readonly inline?: boolean;
  /** Gives labels less room, for a box at the side. */
  readonly narrow?: boolean;
}) {
  return (
    <dl
      className={
        inline
          ? 'flex flex-wrap gap-x-10 gap-y-3'
          : cx('grid grid-cols-1 gap-x-6 gap-y-2', narrow ? 'sm:grid-cols-[5.5rem_1fr]' : 'sm:grid-cols-[10rem_1fr]')
      }
    >
      {facts.map(({ label, value }) => (
        <div key={label} className={inline ? 'min-w-0' : 'contents'}>
          <dt className={cx('text-sm text-faint', !inline && 'max-sm:-mb-1.5')}>{label}</dt>
          <dd className="min-w-0 text-sm text-ink wrap-anywhere">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
