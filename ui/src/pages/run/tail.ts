import { useEffect, useRef, useState, type RefObject } from 'react';

/** Keys by which a reader goes about a page, or opens something on it. */
const READING_KEYS: ReadonlySet<string> = new Set([
  'ArrowUp',
  'ArrowDown',
  'PageUp',
  'PageDown',
  'Home',
  'End',
  'Tab',
  'Enter',
  ' ',
]);

export interface Tail {
  /** Stands after the newest line. */
  readonly tail: RefObject<HTMLDivElement | null>;
  /** The reader has moved, and the newest line is out of sight. */
  readonly isLeft: boolean;
  readonly follow: () => void;
}

/**
 * Keeps the newest line in sight while something grows, until the reader scrolls, points at something or goes on by
 * keyboard; from then on the page stays where it is, until it is asked to follow again. A reader who has followed to the
 * end is taken to the top, where the outcome stands.
 */
export function useTail(isGrowing: boolean, length: number): Tail {
  const [isFollowing, setFollowing] = useState(true);
  const tail = useRef<HTMLDivElement>(null);
  const hasFollowed = useRef(false);
  const isActive = isGrowing && isFollowing;
  useEffect(() => {
    if (!isActive) return;
    hasFollowed.current = true;
    tail.current?.scrollIntoView({ block: 'nearest' });
  }, [isActive, length]);
  useEffect(() => {
    if (isGrowing || !isFollowing || !hasFollowed.current) return;
    hasFollowed.current = false;
    scrollTo({ top: 0 });
  }, [isGrowing, isFollowing]);
  useEffect(() => {
    if (!isActive) return undefined;
    const leaving = new AbortController();
    const { signal } = leaving;
    const stop = () => setFollowing(false);
    addEventListener('wheel', stop, { passive: true, signal });
    addEventListener('touchmove', stop, { passive: true, signal });
    // Also on the scroll bar, and on a step that is opened: what is read must not move away.
    addEventListener('pointerdown', stop, { signal });
    addEventListener('keydown', ({ key }) => READING_KEYS.has(key) && stop(), { signal });
    return () => leaving.abort();
  }, [isActive]);
  const [isInView, setInView] = useState(true);
  const isLoose = isGrowing && !isFollowing;
  useEffect(() => {
    if (!isLoose || tail.current === null) return undefined;
    // While the page is busy several entries come at once, the newest one last.
    const observer = new IntersectionObserver((entries) =>
      setInView(entries.at(-1)?.isIntersecting ?? true),
    );
    observer.observe(tail.current);
    return () => observer.disconnect();
  }, [isLoose]);
  const follow = () => {
    setFollowing(true);
    // The button that asks for it goes away.
    tail.current?.focus({ preventScroll: true });
  };
  return { tail, isLeft: isLoose && !isInView, follow };
}
