import { Toast as Base } from '@base-ui/react/toast';
import { CircleAlert, CircleCheck, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { toasts } from '#ui/api/toast.ts';
import { IconButton } from './button.tsx';

/**
 * Shows the toasts of the whole page, and announces them to screen readers. While a dialog is open, only the newest
 * toast is shown, at the top, because the buttons of dialogs are at the bottom.
 */
export function ToastProvider({ children }: { readonly children: ReactNode }) {
  return (
    <Base.Provider toastManager={toasts} timeout={4_000} limit={3}>
      {children}
      <Base.Portal>
        <Base.Viewport className="fixed right-3 bottom-3 z-50 flex w-[calc(100vw-1.5rem)] flex-col gap-2 sm:right-5 sm:bottom-5 sm:w-90 with-dialog:top-3 with-dialog:bottom-auto">
          <Toasts />
        </Base.Viewport>
      </Base.Portal>
    </Base.Provider>
  );
}

function Toasts() {
  const { toasts: shown } = Base.useToastManager();
  return shown.map((each) => (
    <Base.Root
      key={each.id}
      toast={each}
      className="rounded-lg bg-surface shadow-overlay transition-opacity duration-150 data-ending-style:opacity-0 data-limited:hidden data-starting-style:opacity-0 with-dialog:not-first-of-type:hidden"
    >
      <Base.Content className="flex items-start gap-2.5 px-3 py-2.5">
        {each.type === 'failed' ? (
          <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
        ) : (
          <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-good" />
        )}
        <div className="min-w-0 grow">
          <Base.Title className="text-base font-medium text-ink" />
          <Base.Description className="font-mono text-xs break-all text-muted" />
        </div>
        <Base.Action className="rounded-sm px-1.5 text-sm font-medium text-accent-ink hover:bg-hover empty:hidden" />
        <Base.Close render={<IconButton icon={X} label="Dismiss" size="sm" className="-my-1 -mr-1.5" />} />
      </Base.Content>
    </Base.Root>
  ));
}
