import { drawn } from '#ui/format/drawn.ts';
import type { Stretch } from '#ui/format/word-diff.ts';
import { cx } from './cx.ts';

export interface StretchesProps {
  readonly of: readonly Stretch[];
  readonly as?: 'ins' | 'del' | 'span';
  /** Keeps words whole, for a cell of a table that scrolls. */
  readonly whole?: boolean;
}

/** Shows a line; words that differ are underlined or struck through, so that color is not needed to see them. */
export function Stretches({ of, as: Tag = 'span', whole = false }: StretchesProps) {
  return (
    <span className={cx('min-w-0 whitespace-pre-wrap', whole ? 'wrap-break-word' : 'wrap-anywhere')}>
      {of.map(({ text, differs }, index) =>
        differs ? (
          <Tag key={index} className={cx('rounded-sm font-medium', Tag === 'ins' ? 'text-good-ink' : 'text-bad-ink')}>
            {drawn(text)}
          </Tag>
        ) : (
          drawn(text)
        ),
      )}
      {/* An empty line is as high as any. */}
      {of.length === 0 && <br />}
    </span>
  );
}
