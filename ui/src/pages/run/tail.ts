import { useEffect, useRef, useState } from 'react';

const SCROLL_KEYS: ReadonlySet<string> = new Set([
  'ArrowUp',
  'ArrowDown',
  'PageUp',
  'PageDown',
  'Home',
  'End',
  ' ',
]);

/** Keeps the newest line in sight while something grows, until the reader scrolls; asked again, it goes on. */
export function useTail(isGrowing: boolean, length: number) {
  const [isFollowing, setFollowing] = useState(true);
  const tail = useRef<HTMLDivElement>(null);
  const isActive = isGrowing && isFollowing;
  useEffect(() => {
    if (isActive) tail.current?.scrollIntoView({ block: 'nearest' });
  }, [isActive, length]);
  useEffect(() => {
    if (!isActive) return undefined;
    const leaving = new AbortController();
    const { signal } = leaving;
    const stop = () => setFollowing(false);
    addEventListener('wheel', stop, { passive: true, signal });
    addEventListener('touchmove', stop, { passive: true, signal });
    addEventListener('keydown', ({ key }) => SCROLL_KEYS.has(key) && stop(), { signal });
    // The scroll bar stands beyond the page.
    addEventListener(
      'pointerdown',
      ({ clientX }) => clientX >= document.documentElement.clientWidth && stop(),
      { signal },
    );
    return () => leaving.abort();
  }, [isActive]);
  return { tail, isFollowing, follow: () => setFollowing(true) };
}
