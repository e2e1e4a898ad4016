import { createLink } from '@tanstack/react-router';
import type { ComponentProps } from 'react';
import { cx } from './cx.ts';

/** Shows a link inside of a sentence. */
export const TextLink = createLink(Anchor);

function Anchor({ children, className, ...rest }: ComponentProps<'a'>) {
  return (
    <a className={cx('rounded-sm font-medium text-accent-ink underline-offset-2 hover:underline', className)} {...rest}>
      {children}
    </a>
  );
}
