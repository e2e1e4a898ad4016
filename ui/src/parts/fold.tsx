import { ChevronRight } from 'lucide-react';
import { useId, useState, type ReactNode } from 'react';
import { cx } from '#ui/parts/cx.ts';

export interface FoldProps {
  readonly summary: ReactNode;
  readonly children: ReactNode;
  readonly className?: string;
  readonly startsOpen?: boolean;
}

/** Shows a line that opens. Its content is created only when it opens, so that a hundred lines stay quick. */
export function Fold({ summary, children, className, startsOpen = false }: FoldProps) {
  const [isOpen, setOpen] = useState(startsOpen);
  const id = useId();
  return (
    <>
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen((now) => !now)}
        className={cx(
          'ring-inside flex min-h-9 w-full items-center gap-2 rounded-md px-3 py-1.5 text-left hover:bg-hover pointer-coarse:min-h-11',
          className,
        )}
      >
        <ChevronRight
          aria-hidden
          className={cx('size-3.5 shrink-0 text-faint transition-transform', isOpen && 'rotate-90')}
        />
        {summary}
      </button>
      {isOpen && (
        <div id={id} className="flex flex-col gap-3 px-3 pt-1 pb-3">
          {children}
        </div>
      )}
    </>
  );
}
