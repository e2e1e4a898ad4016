import { cx } from './cx.ts';

/** Shows a grey bar where text will be. */
export function Skeleton({ className }: { readonly className?: string }) {
  return <span aria-hidden className={cx('block h-4 animate-pulse rounded-sm bg-line', className ?? 'w-full')} />;
}

const WIDTHS = ['w-48', 'w-40', 'w-56', 'w-44', 'w-52'];

/** Shows the rows of a table that loads. */
export function SkeletonRows({ rows = 5 }: { readonly rows?: number }) {
  return (
    <div aria-hidden>
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} className="flex h-11 items-center gap-6 border-b border-line">
          <Skeleton className={WIDTHS[index % WIDTHS.length] ?? 'w-48'} />
          <Skeleton className="ml-auto w-24 max-sm:hidden" />
          <Skeleton className="w-16" />
        </div>
      ))}
    </div>
  );
}

/** Shows the paragraphs of a text that loads. */
export function SkeletonText({ lines = 3 }: { readonly lines?: number }) {
  return (
    <div aria-hidden className="flex flex-col gap-2.5">
      {Array.from({ length: lines }, (_, index) => (
        <Skeleton key={index} className={index === lines - 1 ? 'w-3/5' : 'w-full'} />
      ))}
    </div>
  );
}
