import type { Shape } from '#ui/api/types.ts';
import { drawn } from '#ui/format/drawn.ts';
import { isRecord } from '#ui/format/json-pointer.ts';
import { plural } from '#ui/format/numbers.ts';
import { cx } from '#ui/parts/cx.ts';

type Result = Shape<'Result'>;

interface Difference {
  readonly sign: '+' | '−' | '~';
  readonly text: string;
}

/** Returns how a result differs from the one before, in words; of a first result's data all is added. */
export function differencesOf({ kind, changes, lines }: Result): readonly Difference[] {
  if (kind === 'failed' || kind === 'unchanged') return [];
  const added = changes?.added.map(inWords) ?? lines?.added.map(plainText) ?? [];
  const removed = changes?.removed.map(inWords) ?? lines?.removed.map(plainText) ?? [];
  const changed = changes?.changed ?? [];
  const all: readonly Difference[] = [
    ...added.map((text) => ({ sign: '+', text }) as const),
    ...removed.map((text) => ({ sign: '−', text }) as const),
    ...changed.map(({ key, before, after }) => {
      return { sign: '~', text: changedInWords(key, before, after) } as const;
    }),
  ];
  // A line of marks alone says nothing to a reader.
  return all.filter(({ text }) => text !== '');
}

const MOST_LINES = 4;

/** Shows what came, went and is otherwise, each with a sign of its own beside its color. */
export function Differences({
  found,
  result: { changes, lines },
}: {
  readonly found: readonly Difference[];
  readonly result: Result;
}) {
  if (found.length === 0) return null;
  const counts = { changed: 0, added: 0, removed: 0, ...(changes ?? lines)?.counts };
  const shown = found.slice(0, MOST_LINES);
  const left = counts.added + counts.removed + counts.changed - shown.length;
  return (
    <ul className="mt-1.5 border-l-2 border-line pl-3 text-sm">
      {shown.map(({ sign, text }, nth) => (
        // oxlint-disable-next-line react/no-array-index-key -- two lines may be the same, and none of them moves
        <li key={nth} className="flex min-w-0 gap-2">
          <span aria-hidden className={cx('w-3 shrink-0 text-center', SIGNS[sign][1])}>
            {sign}
          </span>
          <span className="min-w-0 truncate text-ink">
            <span className="sr-only">{SIGNS[sign][0]}: </span>
            {drawn(text)}
          </span>
        </li>
      ))}
      {left > 0 && <li className="pl-5 text-muted">and {plural(left, 'more difference')}</li>}
    </ul>
  );
}

const SIGNS: Readonly<Record<Difference['sign'], readonly [word: string, color: string]>> = {
  '+': ['Added', 'text-good-ink'],
  '−': ['Removed', 'text-bad-ink'],
  '~': ['Changed', 'text-warn-ink'],
};

/** Takes the marks of Markdown off, and lines without a letter or digit. */
export function plainText(markdown: string): string {
  return markdown
    .split('\n')
    .map((line) =>
      line
        .replace(/^[#>\s]+/, '')
        .replaceAll(/\*\*|__|`/g, '')
        // The cells of a table's row are joined by spaces.
        .replaceAll(/^\s*\||\|\s*$/g, '')
        .replaceAll(/\s*\|\s*/g, ' · ')
        .trim(),
    )
    .filter((line) => /[\p{L}\p{N}]/u.test(line))
    .join('\n');
}

/** Writes an item of data in a line: its values by name, nested ones as JSON. */
function inWords(item: unknown): string {
  if (!isRecord(item)) return shown(item);
  return Object.entries(item)
    .map(([name, value]) => `${name} ${shown(value)}`)
    .join(', ');
}

function changedInWords(key: string | number | boolean | null, before: unknown, after: unknown) {
  if (!isRecord(before) || !isRecord(after)) {
    return [key, `${shown(before)} → ${shown(after)}`].filter((part) => part !== null).join(': ');
  }
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const differing = names
    .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .map((name) => `${name} ${shown(before[name])} → ${shown(after[name])}`);
  return `${key === null ? '' : `${String(key)}: `}${differing.join(', ')}`;
}

function shown(value: unknown): string {
  if (value === undefined) return 'none';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
