import type { ReactNode } from 'react';
import { usePageTitle } from '#ui/parts/page-title.ts';

export interface AuthFrameProps {
  readonly title: string;
  readonly description?: ReactNode;
  readonly children?: ReactNode;
  /** The alternative: to sign in or to sign up instead. */
  readonly footer?: ReactNode;
}

/** Draws the frame of pages before the sign-in. */
export function AuthFrame({ title, description, children, footer }: AuthFrameProps) {
  usePageTitle(title);
  return (
    <main className="mx-auto flex min-h-dvh w-full max-w-md flex-col px-4 pt-[14dvh] pb-12">
      <p className="flex items-center gap-2.5 text-base font-semibold text-ink">
        <Mark />
        Routine Automation
      </p>
      <h1 className="mt-6 text-xl font-semibold tracking-tight text-ink">{title}</h1>
      {description !== undefined && <div className="mt-1 text-base text-muted wrap-anywhere">{description}</div>}
      {children !== undefined && <div className="mt-6 flex flex-col gap-4">{children}</div>}
      {footer !== undefined && <p className="mt-6 text-base text-muted">{footer}</p>}
    </main>
  );
}

/** Draws the sign of the product. */
function Mark() {
  return (
    <svg aria-hidden viewBox="0 0 32 32" className="size-8">
      <rect width="32" height="32" rx="8" className="fill-accent" />
      <g fill="none" className="stroke-on-accent" strokeWidth="2.6" strokeLinecap="round">
        <path d="M16 7.5a8.5 8.5 0 1 1-8.1 5.9" />
        <path d="M16 11.5V16l3.2 2.2" strokeLinejoin="round" />
      </g>
      <circle cx="9.2" cy="9.2" r="1.9" className="fill-on-accent" />
    </svg>
  );
}
