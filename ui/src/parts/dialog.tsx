import { Dialog as Base } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import { useRef, useState, type ReactNode } from 'react';
import { Button, IconButton, type ButtonKind } from './button.tsx';
import { cx } from './cx.ts';
import { Field, FormError } from './field.tsx';
import { Input } from './input.tsx';

export interface DialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly description?: ReactNode;
  readonly children?: ReactNode;
  /** Buttons, with the affirmative one last. */
  readonly actions?: ReactNode;
  readonly size?: 'sm' | 'md' | 'lg';
  /** True for a dialog with a secret that is shown once: only its own buttons close it. */
  readonly locked?: boolean;
}

const WIDTHS = { sm: 'sm:max-w-md', md: 'sm:max-w-lg', lg: 'sm:max-w-3xl' } as const;

/** Shows a question or a short form over the page; on a phone it comes from below. */
export function Dialog({
  open,
  onClose,
  title,
  description,
  children,
  actions,
  size = 'sm',
  locked = false,
}: DialogProps) {
  const popup = useRef<HTMLDivElement>(null);
  return (
    <Base.Root
      open={open}
      disablePointerDismissal={locked}
      onOpenChange={(next, details) => {
        if (next || (locked && details.reason === 'escape-key')) return;
        onClose();
      }}
    >
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-veil transition-opacity duration-100 data-ending-style:opacity-0 data-starting-style:opacity-0" />
        <Base.Popup
          ref={popup}
          initialFocus={() => firstFocus(popup.current)}
          className={cx(
            'fixed inset-x-0 bottom-0 z-40 flex max-h-[92dvh] w-full flex-col rounded-t-lg bg-surface shadow-overlay outline-none transition-[opacity,transform] duration-100 data-ending-style:opacity-0 data-starting-style:translate-y-1 data-starting-style:opacity-0 sm:inset-x-auto sm:bottom-auto sm:left-1/2 sm:top-[12dvh] sm:max-h-[80dvh] sm:-translate-x-1/2 sm:rounded-lg',
            WIDTHS[size],
          )}
        >
          <header className="flex items-start justify-between gap-4 px-5 pt-4">
            <Base.Title className="text-lg font-semibold text-ink">{title}</Base.Title>
            {!locked && (
              <Base.Close render={<IconButton icon={X} label="Close" size="sm" className="-mt-0.5 -mr-2" />} />
            )}
          </header>
          <div className="flex flex-col gap-4 overflow-y-auto px-5 pt-1 pb-5">
            {description !== undefined && (
              <Base.Description className="text-base text-muted" render={<div />}>
                {description}
              </Base.Description>
            )}
            {children}
          </div>
          {actions !== undefined && (
            <footer className="flex flex-wrap justify-end gap-2 border-t border-line px-5 py-3">{actions}</footer>
          )}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

/** Focuses the first field, else the first button at the end (Cancel), else the dialog. */
function firstFocus(popup: HTMLElement | null): HTMLElement | null {
  return (
    popup?.querySelector<HTMLElement>('input:not([aria-hidden], [hidden]), textarea, [role="combobox"]') ??
    popup?.querySelector<HTMLElement>('footer button') ??
    popup
  );
}

export interface ConfirmProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  /** The consequences of the action. */
  readonly description: ReactNode;
  /** The action as a verb: "Archive routine". */
  readonly action: string;
  readonly onConfirm: () => void;
  readonly busy?: boolean;
  readonly kind?: ButtonKind;
  readonly error?: string | undefined;
  /** An additional choice. */
  readonly children?: ReactNode;
}

/** Asks before an action that cannot simply be undone. */
export function ConfirmDialog({
  open,
  onClose,
  title,
  description,
  action,
  onConfirm,
  busy = false,
  kind = 'danger',
  error,
  children,
}: ConfirmProps) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={title}
      description={description}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind={kind} busy={busy} onClick={onConfirm}>
            {action}
          </Button>
        </>
      }
    >
      {children}
      {error === undefined ? undefined : <FormError message={error} />}
    </Dialog>
  );
}

export interface ConfirmByNameProps extends ConfirmProps {
  /** Name that has to be typed. */
  readonly name: string;
}

/** Asks for the name before something is deleted for good. */
export function ConfirmByNameDialog({ name, children, ...props }: ConfirmByNameProps) {
  const [typed, setTyped] = useState('');
  const close = () => {
    setTyped('');
    props.onClose();
  };
  return (
    <Dialog
      open={props.open}
      onClose={close}
      title={props.title}
      description={props.description}
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button
            kind="danger"
            busy={props.busy ?? false}
            disabledReason={typed === name ? undefined : `Type ${name} first.`}
            onClick={props.onConfirm}
          >
            {props.action}
          </Button>
        </>
      }
    >
      {children}
      <Field
        label={
          <>
            Type <span className="font-mono text-sm">{name}</span> to confirm
          </>
        }
      >
        <Input value={typed} onChange={(event) => setTyped(event.target.value)} autoComplete="off" spellCheck={false} />
      </Field>
      <FormError message={props.error} />
    </Dialog>
  );
}
