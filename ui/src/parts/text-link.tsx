import { createLink } from '@tanstack/react-router';
import type { ComponentProps } from 'react';

/** A link inside of a sentence. */
export const TextLink = createLink(Anchor);

function Anchor({ children, ...rest }: ComponentProps<'a'>) {
  return (
    <a
      className="rounded-sm font-medium text-accent-ink underline-offset-2 hover:underline"
      {...rest}
    >
      {children}
    </a>
  );
}
