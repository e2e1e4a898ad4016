import type { OutlineEntry } from '#ui/format/document.ts';
import { cx } from './cx.ts';
import { Fold } from './fold.tsx';

const INDENTS = ['', 'pl-3', 'pl-6'] as const;

/** Lists the headings of a long text: beside it where there is room, else folded above it. */
export function Outline({ entries }: { readonly entries: readonly OutlineEntry[] }) {
  return (
    <>
      <nav
        aria-label="Contents"
        className="sticky top-6 order-last max-h-[calc(100dvh-3rem)] self-start overflow-y-auto border-l border-line pl-3 max-xl:hidden print:hidden"
      >
        <Entries entries={entries} />
      </nav>
      <nav aria-label="Contents" className="rounded-md border border-line xl:hidden print:hidden">
        <Fold summary={<span className="text-sm font-medium text-ink">Contents</span>}>
          <Entries entries={entries} />
        </Fold>
      </nav>
    </>
  );
}

function Entries({ entries }: { readonly entries: readonly OutlineEntry[] }) {
  return (
    <ul className="flex flex-col gap-1 text-sm">
      {entries.map(({ id, text, depth }) => (
        <li key={id} className={cx(INDENTS[Math.min(depth, INDENTS.length - 1)])}>
          <a href={`#${id}`} className="rounded-sm text-muted wrap-anywhere hover:text-ink">
            {text === '' ? 'Untitled' : text}
          </a>
        </li>
      ))}
    </ul>
  );
}
