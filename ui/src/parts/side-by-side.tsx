import { useMemo, type ReactNode } from 'react';
import type { BlockPair, TablePair } from '#ui/format/block-diff.ts';
import { plural } from '#ui/format/numbers.ts';
import { wordDiff, type LinePair } from '#ui/format/word-diff.ts';
import { Button } from './button.tsx';
import { ComparedTable, Stretches } from './compared-table.tsx';
import { cx } from './cx.ts';
import { useFolds } from './use-folds.ts';

export interface SideBySideProps {
  /** Name of the comparison for screen readers. */
  readonly label: string;
  readonly before: string;
  readonly after: string;
}

/** Shows two texts next to each other with the differing words marked; common parts are folded. */
export default function SideBySide({ label, before, after }: SideBySideProps) {
  const pairs = useMemo(() => wordDiff(before, after), [before, after]);
  return <Pairs label={label} pairs={pairs} />;
}

type Pair = (LinePair & Partial<Pick<BlockPair, 'look' | 'depth'>>) | TablePair;

/** Shows pairs of lines next to each other, and tables over the whole width. */
export function Pairs({ label, pairs }: { readonly label: string; readonly pairs: readonly Pair[] }) {
  const { shown, open, more } = useFolds(pairs);
  return (
    <>
      <div
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls has to take the focus
        tabIndex={0}
        role="region"
        aria-label={label}
        className="relative overflow-x-auto rounded-lg border border-line bg-surface py-1 text-sm"
      >
        {shown.map((fold) =>
          fold.kind === 'fold' ? (
            <button
              key={fold.index}
              type="button"
              className="ring-inside w-full px-3 py-1 text-left text-xs text-muted hover:bg-hover"
              onClick={() => open(fold.index)}
            >
              {`… ${plural(fold.length, 'line')} that both have`}
            </button>
          ) : 'rows' in fold.pair ? (
            <ComparedTable key={fold.index} table={fold.pair} />
          ) : (
            <LinesOf key={fold.index} pair={fold.pair} />
          ),
        )}
      </div>
      {more !== undefined && (
        <Button size="sm" className="mt-2" onClick={more}>
          Show more
        </Button>
      )}
    </>
  );
}

function LinesOf({ pair }: { readonly pair: Exclude<Pair, TablePair> }) {
  const { before, after, same } = pair;
  if (same) {
    return (
      <Beside pair={pair} className="text-muted">
        <Indented pair={pair}>
          <Stretches of={before ?? []} />
        </Indented>
        <div aria-hidden className="max-sm:hidden">
          <Indented pair={pair}>
            <Stretches of={after ?? []} />
          </Indented>
        </div>
      </Beside>
    );
  }
  return (
    <Beside pair={pair} className="text-ink">
      <Side pair={pair} sign="−" />
      <Side pair={pair} sign="+" />
    </Beside>
  );
}

interface PartProps {
  readonly pair: Exclude<Pair, TablePair>;
  readonly className?: string;
  readonly children: ReactNode;
}

/** Sets headings, paragraphs and items further apart than the lines of a plain text. */
function Beside({ pair: { look }, className, children }: PartProps) {
  const isSpaced = look !== undefined && look !== 'code';
  return (
    <div
      className={cx(
        'grid gap-x-4 px-3 sm:grid-cols-2',
        isSpaced ? 'py-1' : 'py-0.5',
        look === 'heading' && 'pt-3 text-base font-semibold',
        look === 'code' && 'font-mono text-xs',
        className,
      )}
    >
      {children}
    </div>
  );
}

/** Indents the items of lists, and quotes. */
function Indented({ pair: { look, depth = 0 }, children }: PartProps) {
  return (
    <div
      className={cx('flex min-w-0 gap-2', ['', 'pl-3', 'pl-6', 'pl-9'][Math.min(depth - (look === 'item' ? 1 : 0), 3)])}
    >
      {look === 'item' && (
        <span aria-hidden className="shrink-0 text-faint select-none">
          •
        </span>
      )}
      {children}
    </div>
  );
}

/** Shows one of two differing lines. A sign and a word say which one, so that color is not needed. */
function Side({ pair, sign }: { readonly pair: Exclude<Pair, TablePair>; readonly sign: '+' | '−' }) {
  const isAfter = sign === '+';
  const stretches = isAfter ? pair.after : pair.before;
  if (stretches === null) return <div className="rounded-sm bg-sunken max-sm:hidden" />;
  return (
    <div className={cx('flex min-w-0 gap-1.5 rounded-sm px-1', isAfter ? 'bg-good-soft' : 'bg-bad-soft')}>
      <span aria-hidden className="shrink-0 text-muted select-none">
        {sign}
      </span>
      <span className="sr-only">{isAfter ? 'After' : 'Before'}: </span>
      <Indented pair={pair}>
        <Stretches of={stretches} as={isAfter ? 'ins' : 'del'} />
      </Indented>
    </div>
  );
}
