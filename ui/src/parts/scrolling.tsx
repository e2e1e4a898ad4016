import { useEffect, useEffectEvent, useRef, useState, type ReactNode } from 'react';
import { cx } from './cx.ts';

export interface ScrollingProps {
  readonly label: string;
  readonly className?: string;
  readonly children: ReactNode;
}

/** Scrolls its content sideways, with a shadow on the side where there is more. */
export function Scrolling({ label, className, children }: ScrollingProps) {
  const box = useRef<HTMLDivElement>(null);
  const [more, setMore] = useState({ left: false, right: false });
  const look = () => {
    const { scrollLeft = 0, clientWidth = 0, scrollWidth = 0 } = box.current ?? {};
    const now = { left: scrollLeft > 1, right: scrollLeft + clientWidth < scrollWidth - 1 };
    if (now.left !== more.left || now.right !== more.right) setMore(now);
  };
  const onResize = useEffectEvent(look);
  useEffect(() => {
    const observer = new ResizeObserver(() => onResize());
    if (box.current !== null) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return (
    <div className={cx('relative overflow-hidden print:overflow-visible', className)}>
      <div
        ref={box}
        onScroll={look}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls has to take the focus
        tabIndex={0}
        role="region"
        aria-label={label}
        className="ring-inside overflow-x-auto"
      >
        {children}
      </div>
      {more.left && <div aria-hidden className={cx(EDGE, 'left-0 bg-linear-to-r')} />}
      {more.right && <div aria-hidden className={cx(EDGE, 'right-0 bg-linear-to-l')} />}
    </div>
  );
}

const EDGE = 'pointer-events-none absolute inset-y-0 w-6 from-ink/15 to-transparent print:hidden';
