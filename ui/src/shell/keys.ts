import { useNavigate } from '@tanstack/react-router';
import { useEffect, useEffectEvent, useRef } from 'react';
import type { Place } from './navigation.ts';

/** Time for which `g` waits for the next key. */
const CHORD_MS = 1_200;

export interface Keys {
  readonly projectId: string;
  /** The pages that there are for this service. */
  readonly places: readonly Place[];
  readonly onPalette: () => void;
  readonly onHelp: () => void;
}

/** Listens for the keys of the whole dashboard, while no field has the focus and no dialog is open. */
export function useKeys({ projectId, places, onPalette, onHelp }: Keys): void {
  const navigate = useNavigate();
  // Kept over renderings, one of which may come between the two keys.
  const chordUntil = useRef(0);
  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      onPalette();
      return;
    }
    if (event.metaKey || event.ctrlKey || event.altKey || isBusy(event.target)) return;
    if (event.key === '?') onHelp();
    else if (event.key === '/') {
      event.preventDefault();
      onPalette();
    } else if (event.key === 'g') chordUntil.current = event.timeStamp + CHORD_MS;
    else if (event.timeStamp < chordUntil.current) {
      chordUntil.current = 0;
      const place = places.find(({ key }) => key === event.key);
      if (place !== undefined) void navigate({ to: place.to, params: { projectId } });
    }
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent) => onKeyDown(event);
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
}

function isBusy(target: EventTarget | null): boolean {
  if (document.querySelector('[role="dialog"], [role="alertdialog"], [role="menu"]') !== null) {
    return true;
  }
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches('input, textarea, select, [role="combobox"]'))
  );
}
