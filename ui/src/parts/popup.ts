/** Classes of everything that opens over the page. */
export const POPUP =
  'rounded-lg bg-surface p-1 text-base text-ink shadow-overlay outline-none max-h-(--available-height) overflow-y-auto';

export const POPUP_ITEM =
  'flex min-h-8 cursor-default items-center gap-2 rounded-md px-2 py-1 text-base outline-none select-none data-highlighted:bg-hover data-disabled:opacity-50 pointer-coarse:min-h-10';
