import { useEffect, useEffectEvent, useRef } from 'react';
import { CHORD_MS, isBusy } from '#ui/parts/keys.ts';

/** Handles the keys for results: `j` and `k` move the focus between them, the others act on the focused one. */
export function useRowKeys(actions: Readonly<Record<string, (runId: string) => void>>): void {
  const chordUntil = useRef(0);
  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    if (event.metaKey || event.ctrlKey || event.altKey || isBusy(event.target)) return;
    if (event.key === 'g') chordUntil.current = event.timeStamp + CHORD_MS;
    if (event.timeStamp < chordUntil.current) return;
    const items = [...document.querySelectorAll<HTMLElement>('[data-run]')];
    const at = items.findIndex((item) => item.contains(document.activeElement));
    const move = (to: number) => items[to]?.querySelector('a')?.focus();
    if (event.key === 'j') move(at + 1);
    else if (event.key === 'k') move(Math.max(at - 1, 0));
    else {
      const runId = items[at]?.dataset['run'];
      const act = actions[event.key];
      if (runId === undefined || act === undefined) return;
      // The row is about to disappear.
      if (event.key === 'e') move(at + 1 < items.length ? at + 1 : at - 1);
      act(runId);
    }
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent) => onKeyDown(event);
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
}
