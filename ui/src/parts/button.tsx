import { createLink } from '@tanstack/react-router';
import { LoaderCircle, type LucideIcon } from 'lucide-react';
import type { ComponentProps, MouseEvent } from 'react';
import { cx } from './cx.ts';
import { Tooltip } from './tooltip.tsx';

export type ButtonKind = 'primary' | 'secondary' | 'quiet' | 'danger';
export type ButtonSize = 'sm' | 'md';

const BASE =
  'inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md font-medium whitespace-nowrap select-none transition-colors duration-100 aria-disabled:opacity-55 disabled:opacity-55';

const KINDS: Readonly<Record<ButtonKind, string>> = {
  primary: 'bg-accent text-on-accent not-aria-disabled:hover:bg-accent-hover not-aria-disabled:active:brightness-95',
  secondary:
    'border border-edge bg-surface text-ink not-aria-disabled:hover:bg-sunken not-aria-disabled:active:bg-hover',
  quiet: 'text-muted not-aria-disabled:hover:bg-hover not-aria-disabled:hover:text-ink',
  danger: 'bg-bad-fill text-on-accent not-aria-disabled:hover:brightness-92',
};

const SIZES: Readonly<Record<ButtonSize, string>> = {
  sm: 'h-7 px-2.5 text-sm pointer-coarse:h-9',
  md: 'h-8 px-3 text-base pointer-coarse:h-10',
};

const ICON_SIZES: Readonly<Record<ButtonSize, string>> = {
  sm: 'size-7 pointer-coarse:size-9',
  md: 'size-8 pointer-coarse:size-10',
};

export interface ButtonProps extends Omit<ComponentProps<'button'>, 'disabled'> {
  readonly kind?: ButtonKind;
  readonly size?: ButtonSize;
  readonly icon?: LucideIcon;
  /** True while the action runs: the button shows this and ignores further clicks. */
  readonly busy?: boolean;
  /** One sentence that says why the button cannot be used now. The button then only shows the sentence. */
  readonly disabledReason?: string | undefined;
}

export function Button({
  kind = 'secondary',
  size = 'md',
  icon: Icon,
  busy = false,
  disabledReason,
  className,
  children,
  onClick,
  type = 'button',
  ...rest
}: ButtonProps) {
  const isOff = busy || disabledReason !== undefined;
  const button = (
    <button
      // oxlint-disable-next-line react/button-has-type -- it has one by default
      type={type}
      aria-disabled={isOff || undefined}
      // oxlint-disable-next-line jsx-a11y/role-supports-aria-props -- WAI-ARIA 1.3 has it on every role
      aria-description={disabledReason}
      aria-busy={busy || undefined}
      className={cx(BASE, KINDS[kind], SIZES[size], className)}
      onClick={(event: MouseEvent<HTMLButtonElement>) => {
        if (isOff) event.preventDefault();
        else onClick?.(event);
      }}
      {...rest}
    >
      <Glyph busy={busy} icon={Icon} />
      {children}
    </button>
  );
  return disabledReason === undefined ? button : <Tooltip text={disabledReason}>{button}</Tooltip>;
}

export interface IconButtonProps extends Omit<ButtonProps, 'children' | 'icon'> {
  readonly icon: LucideIcon;
  /** Accessible name, also shown as the tooltip. */
  readonly label: string;
}

export function IconButton({
  icon: Icon,
  label,
  kind = 'quiet',
  size = 'md',
  busy = false,
  disabledReason,
  className,
  onClick,
  ...rest
}: IconButtonProps) {
  const isOff = busy || disabledReason !== undefined;
  return (
    <Tooltip text={disabledReason ?? label}>
      <button
        type="button"
        aria-label={label}
        aria-disabled={isOff || undefined}
        // oxlint-disable-next-line jsx-a11y/role-supports-aria-props -- WAI-ARIA 1.3 has it on every role
        aria-description={disabledReason}
        className={cx(BASE, KINDS[kind], ICON_SIZES[size], className)}
        onClick={(event) => {
          if (isOff) event.preventDefault();
          else onClick?.(event);
        }}
        {...rest}
      >
        <Glyph busy={busy} icon={Icon} />
      </button>
    </Tooltip>
  );
}

interface ButtonAnchorProps extends ComponentProps<'a'> {
  readonly kind?: ButtonKind;
  readonly size?: ButtonSize;
  readonly icon?: LucideIcon;
}

/** Shows a link as a button: it goes somewhere and changes nothing. */
export const ButtonLink = createLink(ButtonAnchor);

function ButtonAnchor({ kind = 'secondary', size = 'md', icon, className, children, ...rest }: ButtonAnchorProps) {
  return (
    <a className={cx(BASE, KINDS[kind], SIZES[size], className)} {...rest}>
      <Glyph busy={false} icon={icon} />
      {children}
    </a>
  );
}

function Glyph({ busy, icon: Icon }: { busy: boolean; icon: LucideIcon | undefined }) {
  if (busy) return <LoaderCircle aria-hidden className="size-4 animate-spin" strokeWidth={2} />;
  return Icon === undefined ? null : <Icon aria-hidden className="size-4" strokeWidth={1.75} />;
}
