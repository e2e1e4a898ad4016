import { useRouter, type ErrorComponentProps } from '@tanstack/react-router';
import { CircleAlert, CircleHelp } from 'lucide-react';
import { ApiError } from '#ui/api/error.ts';
import { Button, ButtonLink } from '#ui/parts/button.tsx';
import { EmptyState, ErrorState } from '#ui/parts/feedback.tsx';
import { usePageTitle } from '#ui/parts/page-title.ts';

/** Shows an uncaught error of a page: an error of the API with its request id, or a fault of the dashboard. */
export function ErrorPage({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  usePageTitle('Something went wrong');
  const again = () => {
    reset();
    void router.invalidate();
  };
  return (
    <main className="mx-auto max-w-xl px-4 py-16">
      <h1 className="sr-only">Something went wrong</h1>
      {error instanceof ApiError ? (
        <ErrorState error={error} onRetry={again} />
      ) : (
        <EmptyState
          icon={CircleAlert}
          title="This page has failed"
          action={<Button onClick={() => location.reload()}>Reload the page</Button>}
        >
          This is our mistake. Everything you saved is kept.
        </EmptyState>
      )}
    </main>
  );
}

/** Says that no page has this address. */
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
        The page may have been moved, or the link is incomplete.
      </EmptyState>
    </main>
  );
}
