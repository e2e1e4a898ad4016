import { useEffect, useRef } from 'react';
import { RichText } from './lazily.tsx';

/** Shows a text while it is written, in a box that keeps the end in sight until the reader scrolls up in it. */
export function LiveText({ text }: { readonly text: string }) {
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    if (content.current === null) return undefined;
    const observer = new ResizeObserver(() => {
      if (isAtEnd.current) box.current?.scrollTo({ top: box.current.scrollHeight });
    });
    observer.observe(content.current);
    return () => observer.disconnect();
  }, []);
  const shown = endOf(text);
  return (
    <div
      ref={box}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls has to take the focus
      tabIndex={0}
      role="region"
      aria-label="Text so far"
      aria-busy="true"
      className="max-h-[min(32rem,60vh)] min-w-0 overflow-y-auto rounded-lg border border-line bg-surface px-5 py-4"
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_PX;
      }}
    >
      <div ref={content}>
        {shown.length < text.length && (
          <p className="mb-3 text-sm text-muted">The end of a long text. The whole text follows when it is finished.</p>
        )}
        <RichText text={shown} />
      </div>
    </div>
  );
}

const NEAR_PX = 48;

/** The most characters that are quickly formatted again for each new piece. */
const MOST = 20_000;
const STEP = 8_000;

/** Returns the end of a long text, from the start of a line. The start moves in steps, so that the page is steady. */
function endOf(text: string): string {
  if (text.length <= MOST) return text;
  const from = Math.ceil((text.length - MOST) / STEP) * STEP;
  const line = text.indexOf('\n', from);
  return text.slice(line === -1 || line > from + STEP / 2 ? from : line + 1);
}
