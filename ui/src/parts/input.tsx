import type { ComponentProps } from 'react';
import { cx } from './cx.ts';
import { useFieldProps } from './field.tsx';

/** Classes of the box that all controls share. */
export const CONTROL =
  'w-full rounded-md border border-edge bg-surface px-2.5 text-base text-ink transition-colors duration-100 hover:border-faint focus-visible:outline-offset-0 focus-visible:border-accent aria-invalid:border-bad [&[readonly]]:bg-sunken disabled:opacity-55';

export function Input({ className, ...rest }: ComponentProps<'input'>) {
  return <input {...useFieldProps()} className={cx(CONTROL, 'h-8 pointer-coarse:h-10', className)} {...rest} />;
}

export interface TextareaProps extends ComponentProps<'textarea'> {
  /** Sets a monospaced font, for instructions and code. */
  readonly mono?: boolean;
}

export function Textarea({ className, mono = false, rows = 4, ...rest }: TextareaProps) {
  return (
    <textarea
      {...useFieldProps()}
      rows={rows}
      className={cx(CONTROL, 'resize-y py-1.5', mono && 'font-mono text-sm', className)}
      {...rest}
    />
  );
}
