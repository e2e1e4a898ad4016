import { useEffectEvent, useLayoutEffect, useRef } from 'react';
import { CHORD_MS, isBusy } from './keys.ts';

/** Listens for keys from the moment that the page shows. An effect would run later and miss a key. */
export function useDocumentKeys(onKeyDown: (event: KeyboardEvent) => void): void {
  const latest = useEffectEvent(onKeyDown);
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent) => latest(event);
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
}

/**
 * Listens for the keys of a page: outside of fields and dialogs, and not after `g`, which leads to another page.
 * @param onKey returns true for a key that it has used, so that a field that opens does not get the key
 */
export function usePageKeys(onKey: (key: string) => boolean): void {
  const chordUntil = useRef(0);
  useDocumentKeys((event) => {
    if (event.metaKey || event.ctrlKey || event.altKey || isBusy(event.target)) return;
    if (event.key === 'g') chordUntil.current = event.timeStamp + CHORD_MS;
    if (event.timeStamp < chordUntil.current) return;
    if (onKey(event.key)) event.preventDefault();
  });
}
