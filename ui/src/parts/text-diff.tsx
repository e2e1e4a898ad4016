import { diffLines, type DiffLine } from '#ui/format/diff-lines.ts';
import { drawn } from '#ui/format/drawn.ts';
import { cx } from './cx.ts';

/** Number of lines shown around each change. */
const CONTEXT = 3;

const STYLES = {
  same: ['text-muted', ' ', ''],
  added: ['bg-good-soft text-good-ink', '+', 'Added: '],
  removed: ['bg-bad-soft text-bad-ink', '−', 'Removed: '],
} as const;

export interface TextDiffProps {
  readonly label: string;
  readonly before: string;
  readonly after: string;
}

/** Shows the changes between two texts with a few lines around each. Two equal texts are shown whole. */
export default function TextDiff({ label, before, after }: TextDiffProps) {
  const lines = diffLines(before, after);
  const isShown = (index: number) => before === after || isNear(lines, index);
  return (
    <div
      // Reachable by keyboard, because the text may scroll.
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls has to take the focus
      tabIndex={0}
      role="region"
      aria-label={label}
      className="relative max-h-80 overflow-auto rounded-lg border border-line bg-surface py-1.5 font-mono text-xs"
    >
      {lines.map((line, index) =>
        isShown(index) ? (
          <Line key={index} line={line} />
        ) : index === 0 || isShown(index - 1) ? (
          <div key={index} className="px-3 py-0.5 text-faint">
            …
          </div>
        ) : null,
      )}
    </div>
  );
}

function Line({ line: { kind, text } }: { readonly line: DiffLine }) {
  const [style, sign, spoken] = STYLES[kind];
  return (
    <div className={cx('flex min-h-4.5 gap-2 px-3 py-px', style)}>
      <span aria-hidden className="w-2 shrink-0 select-none">
        {sign}
      </span>
      {spoken !== '' && <span className="sr-only">{spoken}</span>}
      <span className="wrap-anywhere whitespace-pre-wrap">{drawn(text)}</span>
    </div>
  );
}

function isNear(lines: readonly DiffLine[], index: number): boolean {
  return lines.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(({ kind }) => kind !== 'same');
}
