import { useState } from 'react';
import { drawn } from '#ui/format/drawn.ts';
import { count } from '#ui/format/numbers.ts';
import { piecesOf } from '#ui/format/pieces.ts';
import { Button } from './button.tsx';

/** Shows a text without formatting. A long one is shown piece by piece, because its layout would block the page. */
export function PlainText({ text, label }: { readonly text: string; readonly label: string }) {
  const [shown, setShown] = useState(1);
  const pieces = piecesOf(text);
  const left = pieces.slice(shown).reduce((sum, piece) => sum + piece.length, 0);
  return (
    <>
      <div
        // Reachable by keyboard, because the text may scroll.
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls has to take the focus
        tabIndex={0}
        role="region"
        aria-label={label}
        className="min-w-0 overflow-auto rounded-lg border border-line bg-sunken p-3 font-mono text-sm text-ink"
      >
        {pieces.slice(0, shown).map((piece, index) => (
          <pre key={index} className="wrap-anywhere whitespace-pre-wrap">
            {drawn(piece)}
          </pre>
        ))}
      </div>
      {left > 0 && (
        <div className="mt-2 flex flex-wrap items-center gap-3 text-sm text-muted">
          <span>{count(left)} characters more</span>
          <Button size="sm" className="print:hidden" onClick={() => setShown((now) => now + 1)}>
            Show more
          </Button>
        </div>
      )}
    </>
  );
}
