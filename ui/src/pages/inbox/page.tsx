import { PageHeader } from '#ui/parts/page.tsx';
import { HeldCalls } from './held-calls.tsx';
import { Questions } from './questions.tsx';

/** Shows everything that waits for a person's decision. */
export function InboxPage() {
  return (
    <>
      <PageHeader
        title="Inbox"
        description="Calls that runs want to make, and their questions. No call is made before you approve it."
      />
      <Questions />
      <HeldCalls />
    </>
  );
}
