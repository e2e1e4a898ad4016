import { ListChecks, Plus } from 'lucide-react';
import { ApiError } from '#ui/api/error.ts';
import { Button } from '#ui/parts/button.tsx';
import { EmptyState, ErrorState, Notice } from '#ui/parts/feedback.tsx';
import { Section } from '#ui/parts/page.tsx';
import { ERROR } from './samples.ts';

/** Shows what a page says when it is empty, has failed or is forbidden. */
export function Feedback() {
  return (
    <Section title="Empty, failed, forbidden">
      <div className="grid gap-4 sm:grid-cols-2">
        <EmptyState
          icon={ListChecks}
          title="No routines yet"
          action={
            <Button kind="primary" icon={Plus}>
              New routine
            </Button>
          }
        >
          A routine is work that runs by itself, on time, with its result delivered.
        </EmptyState>
        <ErrorState error={ERROR} onRetry={() => undefined} />
        <ErrorState
          error={
            new ApiError({
              status: 403,
              code: 'forbidden',
              message: 'Only owners and admins see this.',
            })
          }
        />
        <div className="flex flex-col gap-3">
          <Notice>Changes to the instructions return this routine to draft.</Notice>
          <Notice tone="warn">This may be out of date.</Notice>
          <Notice tone="bad">The payment has failed. Access ends on 3 December.</Notice>
        </div>
      </div>
    </Section>
  );
}
