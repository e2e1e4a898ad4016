import { CircleHelp } from 'lucide-react';
import { ButtonLink } from '#ui/parts/button.tsx';
import { EmptyState } from '#ui/parts/feedback.tsx';
import { usePageTitle } from '#ui/parts/page-title.ts';

/** Shown for an address that has no page. */
export function NotFoundPage() {
  usePageTitle('Not found');
  return (
    <main className="mx-auto max-w-xl px-4 py-16">
      <h1 className="sr-only">Not found</h1>
      <EmptyState
        icon={CircleHelp}
        title="There is no page at this address"
        action={<ButtonLink to="/">Go to your routines</ButtonLink>}
      >
        It may have been moved, or the link is incomplete.
      </EmptyState>
    </main>
  );
}
