import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { Place } from './navigation.ts';

/** Time for which `g` waits for the next key. */
const CHORD_MS = 1_200;

export interface Keys {
  readonly projectId: string;
  /** Those that there are for this service. */
  readonly places: readonly Place[];
  readonly onPalette: () => void;
  readonly onHelp: () => void;
}

/** Listens for the keys of the whole dashboard, which hold wherever nobody types and no dialog is open. */
export function useKeys({ projectId, places, onPalette, onHelp }: Keys): void {
  const navigate = useNavigate();
  useEffect(() => {
    let chordUntil = 0;
    function onKeyDown(event: KeyboardEvent): void {
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
      } else if (event.key === 'g') chordUntil = event.timeStamp + CHORD_MS;
      else if (event.timeStamp < chordUntil) {
        chordUntil = 0;
        const place = places.find(({ key }) => key === event.key);
        if (place !== undefined) void navigate({ to: place.to, params: { projectId } });
      }
    }
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [navigate, projectId, places, onPalette, onHelp]);
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
