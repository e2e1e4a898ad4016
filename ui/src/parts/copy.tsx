import { Check, Copy } from 'lucide-react';
import { useEffect, useState, type ReactNode } from 'react';
import { drawn } from '#ui/format/drawn.ts';
import { Button, IconButton } from './button.tsx';
import { cx } from './cx.ts';
import { Dialog } from './dialog.tsx';

const SHOWN_MS = 2_000;

function useCopy(text: string): { copied: boolean; copy: () => void } {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  return {
    copied,
    copy: () => void navigator.clipboard.writeText(text).then(() => setCopied(true)),
  };
}

export interface CopyButtonProps {
  readonly text: string;
  /** Name of the button: "Copy key". */
  readonly label?: string;
  readonly iconOnly?: boolean;
}

export function CopyButton({ text, label = 'Copy', iconOnly = false }: CopyButtonProps) {
  const { copied, copy } = useCopy(text);
  const icon = copied ? Check : Copy;
  const said = copied ? 'Copied' : label;
  return (
    <>
      {iconOnly ? (
        <IconButton icon={icon} label={said} size="sm" onClick={copy} />
      ) : (
        <Button icon={icon} size="sm" onClick={copy}>
          {said}
        </Button>
      )}
      <span role="status" className="sr-only">
        {copied ? 'Copied' : ''}
      </span>
    </>
  );
}

/** Shows a value to copy: an id, an address. */
export function CopyField({ value, label }: { readonly value: string; readonly label: string }) {
  return (
    <div className="flex h-8 items-center gap-1 rounded-md border border-line bg-sunken pl-2.5 pr-0.5">
      <span className="grow truncate font-mono text-sm text-ink" title={value}>
        {value}
      </span>
      <CopyButton text={value} label={label} iconOnly />
    </div>
  );
}

export interface CodeBlockProps {
  readonly code: string;
  /** Name of the copied text: "curl", "result". */
  readonly label: string;
  readonly wrap?: boolean;
  /** Greatest height, beyond which the text scrolls. */
  readonly maxHeight?: 'sm' | 'md' | 'none';
}

const HEIGHTS = { sm: 'max-h-48', md: 'max-h-96', none: '' } as const;

/** Shows code or JSON, with a button to copy it. Invisible characters are drawn by name, and copied as they are. */
export function CodeBlock({ code, label, wrap = false, maxHeight = 'md' }: CodeBlockProps) {
  return (
    <div className="group/code relative min-w-0 rounded-lg border border-line bg-sunken">
      <pre
        // Reachable by keyboard, because the code may scroll.
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls has to take the focus
        tabIndex={0}
        role="region"
        aria-label={label}
        className={cx(
          'overflow-auto p-3 pr-12 text-sm text-ink',
          HEIGHTS[maxHeight],
          wrap && 'wrap-anywhere whitespace-pre-wrap',
        )}
      >
        {drawn(code)}
      </pre>
      <span className="absolute top-1.5 right-1.5 rounded-md bg-sunken">
        <CopyButton text={code} label={`Copy ${label}`} iconOnly />
      </span>
    </div>
  );
}

export interface ShowOnceProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  /** Explains the use of the secret, and that it cannot be shown again. */
  readonly description: ReactNode;
  readonly secret: string;
  readonly secretLabel: string;
  /** Lines to paste, shown below. */
  readonly children?: ReactNode;
}

/** Shows a secret once; only its own button closes it. */
export function ShowOnce({ open, onClose, title, description, secret, secretLabel, children }: ShowOnceProps) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      locked
      size="md"
      title={title}
      description={description}
      actions={
        <Button kind="primary" onClick={onClose}>
          I have stored it
        </Button>
      }
    >
      <CodeBlock code={secret} label={secretLabel} wrap maxHeight="none" />
      {children}
    </Dialog>
  );
}
