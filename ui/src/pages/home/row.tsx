import type { LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { drawn } from '#ui/format/drawn.ts';
import { RowLink } from '#ui/parts/table.tsx';

interface RowProps {
  readonly link: LinkProps;
  readonly title: string;
  readonly badge?: ReactNode;
  /** Detail below the title. */
  readonly line?: string;
  /** Time or figure at the end of the row. */
  readonly aside?: ReactNode;
  /** Action that solves the problem. */
  readonly children?: ReactNode;
}

/** Shows one entry of a short list; the whole entry is a link. */
export function Row({ link, title, badge, line = '', aside, children }: RowProps) {
  return (
    <li className="relative border-b border-line px-2 py-2.5 hover:bg-hover">
      <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
        <RowLink {...link} className="min-w-0 truncate text-base">
          {drawn(title)}
        </RowLink>
        {badge}
        <span className="ml-auto text-sm text-muted tabular">{aside}</span>
      </div>
      <div className="flex flex-wrap items-center justify-between gap-x-4">
        {line !== '' && (
          <p className="mt-0.5 line-clamp-2 min-w-0 flex-1 basis-60 max-sm:basis-full text-sm text-muted wrap-anywhere">
            {drawn(line)}
          </p>
        )}
        {/* Above the link that covers the row, so that the action takes clicks. */}
        {children !== undefined && <div className="relative z-10 -mx-2.5">{children}</div>}
      </div>
    </li>
  );
}
