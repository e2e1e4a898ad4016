import { useMemo, useState } from 'react';
import { drawn } from '#ui/format/drawn.ts';
import { plural } from '#ui/format/numbers.ts';
import { wordDiff, type LinePair, type Stretch } from '#ui/format/word-diff.ts';
import { Button } from './button.tsx';
import { cx } from './cx.ts';

export interface SideBySideProps {
  /** Name of the comparison for screen readers. */
  readonly label: string;
  readonly before: string;
  readonly after: string;
}

/** Lines that are shown around each change. */
const CONTEXT = 2;
/** Pairs of lines that are drawn at a time. */
const STEP = 300;

/** Shows two texts next to each other with the differing words marked; common parts are folded. */
export default function SideBySide({ label, before, after }: SideBySideProps) {
  const [shown, setShown] = useState(STEP);
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const pairs = useMemo(() => wordDiff(before, after), [before, after]);
  const groups = groupsOf(pairs, opened);
  return (
    <>
      <div
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls has to take the focus
        tabIndex={0}
        role="region"
        aria-label={label}
        className="relative overflow-x-auto rounded-lg border border-line bg-surface py-1 text-sm"
      >
        {groups.slice(0, shown).map((group) =>
          group.kind === 'pair' ? (
            <Pair key={group.index} pair={group.pair} />
          ) : (
            <button
              key={group.index}
              type="button"
              className="ring-inside w-full px-3 py-1 text-left text-xs text-muted hover:bg-hover"
              onClick={() => setOpened(new Set([...opened, group.index]))}
            >
              {`… ${plural(group.length, 'line')} that both have`}
            </button>
          ),
        )}
      </div>
      {groups.length > shown && (
        <Button size="sm" className="mt-2" onClick={() => setShown(shown + STEP)}>
          Show more
        </Button>
      )}
    </>
  );
}

function Pair({ pair: { before, after, same } }: { readonly pair: LinePair }) {
  if (same) {
    return (
      <div className="grid gap-x-4 px-3 py-0.5 text-muted sm:grid-cols-2">
        <Line stretches={before ?? []} />
        <div aria-hidden className="max-sm:hidden">
          <Line stretches={after ?? []} />
        </div>
      </div>
    );
  }
  return (
    <div className="grid gap-x-4 px-3 py-0.5 text-ink sm:grid-cols-2">
      <Side stretches={before} sign="−" word="Before" className="bg-bad-soft" />
      <Side stretches={after} sign="+" word="After" className="bg-good-soft" />
    </div>
  );
}

interface SideProps {
  readonly stretches: readonly Stretch[] | null;
  readonly sign: '+' | '−';
  readonly word: string;
  readonly className: string;
}

function Side({ stretches, sign, word, className }: SideProps) {
  if (stretches === null) return <div className="rounded-sm bg-sunken max-sm:hidden" />;
  return (
    <div className={cx('flex min-w-0 gap-1.5 rounded-sm px-1', className)}>
      <span aria-hidden className="shrink-0 text-muted select-none">
        {sign}
      </span>
      <span className="sr-only">{word}: </span>
      <Line stretches={stretches} as={sign === '+' ? 'ins' : 'del'} />
    </div>
  );
}

/** Differing words are underlined or struck through, so that color is not needed to see them. */
function Line({ stretches, as: Tag = 'span' }: { stretches: readonly Stretch[]; as?: 'ins' | 'del' | 'span' }) {
  return (
    <span className="min-w-0 wrap-anywhere whitespace-pre-wrap">
      {stretches.map(({ text, differs }, index) =>
        differs ? (
          <Tag key={index} className={cx('rounded-sm font-medium', Tag === 'ins' ? 'text-good-ink' : 'text-bad-ink')}>
            {drawn(text)}
          </Tag>
        ) : (
          drawn(text)
        ),
      )}
      {/* An empty line is as high as any. */}
      {stretches.length === 0 && <br />}
    </span>
  );
}

type Group =
  | { readonly kind: 'pair'; readonly index: number; readonly pair: LinePair }
  | { readonly kind: 'fold'; readonly index: number; readonly length: number };

/** Folds the lines that are far from every change, unless a reader has opened them. */
function groupsOf(pairs: readonly LinePair[], opened: ReadonlySet<number>): readonly Group[] {
  const near = new Set<number>();
  for (const [index, { same }] of pairs.entries()) {
    if (same) continue;
    for (let at = index - CONTEXT; at <= index + CONTEXT; at += 1) near.add(at);
  }
  const groups: Group[] = [];
  let start = -1;
  for (const [index, pair] of pairs.entries()) {
    const last = groups.at(-1);
    if (near.has(index)) start = -1;
    else if (start === -1) start = index;
    if (start === -1 || opened.has(start)) groups.push({ kind: 'pair', index, pair });
    else if (last?.kind === 'fold' && last.index === start) {
      groups[groups.length - 1] = { ...last, length: last.length + 1 };
    } else groups.push({ kind: 'fold', index: start, length: 1 });
  }
  return groups;
}
