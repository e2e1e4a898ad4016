/** Time for which `g` waits for the next key. */
export const CHORD_MS = 1_200;

/** Matches open dialogs and menus, but not toasts, which also have the role of a dialog and take no keys. */
const OPEN = ':is([role="dialog"], [role="alertdialog"]):not([aria-modal="false"]), [role="menu"]';

/** Returns true if a key belongs to a field, or to a dialog or menu that is open. */
export function isBusy(target: EventTarget | null): boolean {
  if (document.querySelector(OPEN) !== null) {
    return true;
  }
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches('input, textarea, select, [role="combobox"]'))
  );
}
