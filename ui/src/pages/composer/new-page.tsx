import { PageHeader } from '#ui/parts/page.tsx';

export function NewRoutinePage() {
  return <PageHeader title="New routine" />;
}
