import { PageHeader } from '#ui/parts/page.tsx';

export function InvitationsPage() {
  return <PageHeader title="Accept an invitation" />;
}
