import type { LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { RowLink } from '#ui/parts/table.tsx';

export interface RowProps {
  readonly link: LinkProps;
  readonly title: string;
  readonly badge?: ReactNode;
  /** Detail below the title. */
  readonly line?: string;
  /** Time or figure at the end of the row. */
  readonly aside: ReactNode;
}

/** Shows one entry of a short list, all of which is a link. */
export function Row({ link, title, badge, line = '', aside }: RowProps) {
  return (
    <li className="relative border-b border-line py-2.5 hover:bg-hover">
      <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
        <RowLink {...link} className="min-w-0 truncate text-base">
          {title}
        </RowLink>
        {badge}
        <span className="ml-auto text-sm text-muted tabular">{aside}</span>
      </div>
      {line !== '' && <p className="mt-0.5 line-clamp-2 text-sm text-muted">{line}</p>}
    </li>
  );
}

const MINUTE_MS = 60_000;

/**
 * Returns the instant so long ago, to the minute, so that the address of a read stays the same while the page is open.
 */
export function since(ms: number, now = Date.now()): string {
  return new Date(Math.floor((now - ms) / MINUTE_MS) * MINUTE_MS).toISOString();
}
