import { Dialog as Base } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';

/** Shows the sidebar in narrow windows. */
export default function Drawer({ onClose, children }: { readonly onClose: () => void; readonly children: ReactNode }) {
  return (
    <Base.Root open onOpenChange={(next) => !next && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-veil" />
        <Base.Popup
          aria-label="Menu"
          className="fixed inset-y-0 left-0 z-40 w-68 max-w-[85vw] bg-sunken shadow-overlay outline-none transition-transform duration-150 data-ending-style:-translate-x-full data-starting-style:-translate-x-full"
        >
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
