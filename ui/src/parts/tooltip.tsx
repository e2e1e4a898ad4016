import { Tooltip as Base } from '@base-ui/react/tooltip';
import type { ReactElement, ReactNode } from 'react';

export interface TooltipProps {
  readonly text: ReactNode;
  /** One element, which takes the tooltip's handlers. */
  readonly children: ReactElement<Record<string, unknown>>;
}

/** One popup for all triggers, because a popup for each of hundreds of buttons would be slow. */
const popup = Base.createHandle<ReactNode>();

/** Adds a hint on hover and focus. Necessary information must not be in a hint alone. */
export function Tooltip({ text, children }: TooltipProps) {
  return <Base.Trigger handle={popup} payload={text} render={children} />;
}

/** Provides the popup of all hints, and the time after which it opens. */
export function TooltipProvider({ children }: { readonly children: ReactNode }) {
  return (
    <Base.Provider delay={400}>
      {children}
      <Base.Root handle={popup}>
        {({ payload }) => (
          <Base.Portal>
            <Base.Positioner sideOffset={6} className="z-50">
              <Base.Popup
                role="tooltip"
                className="max-w-72 rounded-md bg-ink px-2 py-1 text-xs text-canvas shadow-overlay"
              >
                {payload}
              </Base.Popup>
            </Base.Positioner>
          </Base.Portal>
        )}
      </Base.Root>
    </Base.Provider>
  );
}
