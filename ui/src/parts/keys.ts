/** Time for which `g` waits for the next key. */
export const CHORD_MS = 1_200;

/** Returns true if a key belongs to a field, or to a dialog or menu that is open. */
export function isBusy(target: EventTarget | null): boolean {
  if (document.querySelector('[role="dialog"], [role="alertdialog"], [role="menu"]') !== null) {
    return true;
  }
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches('input, textarea, select, [role="combobox"]'))
  );
}
