import type { Shape } from '#ui/api/types.ts';
import { drawn } from '#ui/format/drawn.ts';
import { plural } from '#ui/format/numbers.ts';
import { cx } from '#ui/parts/cx.ts';
import type { Difference, Sign } from './difference-words.ts';

type Result = Shape<'Result'>;

const MOST_LINES = 4;
const KINDS = ['added', 'removed', 'changed'] as const;

/** Shows added, removed and changed lines, each with a sign as well as a color. */
export function Differences({
  found,
  result: { changes, lines },
}: {
  readonly found: readonly Difference[];
  readonly result: Result;
}) {
  if (found.length === 0) return null;
  const given = { changed: [], added: [], removed: [], ...(changes ?? lines) };
  const counts = { changed: 0, added: 0, removed: 0, ...(changes ?? lines)?.counts };
  const shown = found.slice(0, MOST_LINES);
  // Count only differences that the shown text does not contain already.
  const beyond = KINDS.reduce((sum, kind) => sum + counts[kind] - given[kind].length, 0);
  const left = beyond + found.length - shown.length;
  return (
    <ul className="mt-1.5 border-l-2 border-line pl-3 text-sm">
      {shown.map(({ sign, cells }, nth) => (
        // oxlint-disable-next-line react/no-array-index-key -- two lines may be the same, and none of them moves
        <li key={nth} className="flex min-w-0 gap-2">
          <span aria-hidden className={cx('w-3 shrink-0 text-center', SIGNS[sign][1])}>
            {sign}
          </span>
          <span className="min-w-0 truncate text-ink">
            <span className="text-muted">{SIGNS[sign][0]}: </span>
            {cells.map((cell, at) => (
              // oxlint-disable-next-line react/no-array-index-key -- two cells may be the same, and none of them moves
              <span key={at} className="[&+&]:ml-2 [&+&]:border-l [&+&]:border-line [&+&]:pl-2">
                {drawn(cell)}
              </span>
            ))}
          </span>
        </li>
      ))}
      {left > 0 && <li className="pl-5 text-muted">and {plural(left, 'more difference')}</li>}
    </ul>
  );
}

const SIGNS: Readonly<Record<Sign, readonly [word: string, color: string]>> = {
  '+': ['New', 'text-good-ink'],
  '−': ['Gone', 'text-bad-ink'],
  '~': ['Changed', 'text-warn-ink'],
};
