import { useEffect, useRef, useState } from 'react';
import type { OutlineEntry } from '#ui/format/document.ts';
import { cx } from './cx.ts';
import { Fold } from './fold.tsx';

const INDENTS = ['', 'pl-3', 'pl-6'] as const;

/** Lists the headings of a long text and marks the current one: beside the text where it fits, else folded above it. */
export function Outline({ entries }: { readonly entries: readonly OutlineEntry[] }) {
  const reading = useReading(entries);
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    const list = nav.current;
    const link = list?.querySelector<HTMLElement>('[aria-current]');
    if (list === null || link == null) return;
    const isInView =
      link.offsetTop >= list.scrollTop && link.offsetTop + link.offsetHeight <= list.scrollTop + list.clientHeight;
    if (!isInView) list.scrollTop = link.offsetTop - list.clientHeight / 2;
  }, [reading]);
  return (
    <>
      <nav
        ref={nav}
        aria-label="Contents"
        className="sticky top-6 order-last max-h-[calc(100dvh-3rem)] self-start overflow-y-auto border-l border-line pl-3 max-xl:hidden print:hidden"
      >
        <Entries entries={entries} reading={reading} />
      </nav>
      <nav aria-label="Contents" className="rounded-md border border-line xl:hidden print:hidden">
        <Fold summary={<span className="text-sm font-medium text-ink">Contents</span>}>
          <Entries entries={entries} reading={reading} />
        </Fold>
      </nav>
    </>
  );
}

interface EntriesProps {
  readonly entries: readonly OutlineEntry[];
  /** Id of the section that is being read. */
  readonly reading: string | undefined;
}

function Entries({ entries, reading }: EntriesProps) {
  return (
    <ul className="flex flex-col gap-1 text-sm">
      {entries.map(({ id, text, depth }) => (
        <li key={id} className={cx(INDENTS[Math.min(depth, INDENTS.length - 1)])}>
          <a
            href={`#${id}`}
            aria-current={id === reading ? 'location' : undefined}
            className="rounded-sm text-muted wrap-anywhere hover:text-ink aria-current:font-medium aria-current:text-ink"
          >
            {text === '' ? 'Untitled' : text}
          </a>
        </li>
      ))}
    </ul>
  );
}

/** Share of the window above which a heading has been reached. */
const REACHED = 0.25;

/** Returns the section at the top of the window; before the first heading is reached, the first section. */
function useReading(entries: readonly OutlineEntry[]): string | undefined {
  const [reading, setReading] = useState(entries[0]?.id);
  useEffect(() => {
    let frame = 0;
    const look = () => {
      frame = 0;
      // A long text is drawn step by step, so its last headings may be missing for a while.
      const reached = entries.findLast(({ id }) => {
        const top = document.getElementById(id)?.getBoundingClientRect().top;
        return top !== undefined && top <= innerHeight * REACHED;
      });
      setReading((reached ?? entries[0])?.id);
    };
    const onScroll = () => {
      if (frame === 0) frame = requestAnimationFrame(look);
    };
    look();
    addEventListener('scroll', onScroll, { passive: true });
    return () => {
      removeEventListener('scroll', onScroll);
      cancelAnimationFrame(frame);
    };
  }, [entries]);
  return reading;
}
