import { PageHeader } from '#ui/parts/page.tsx';

export function EditRoutinePage() {
  return <PageHeader title="Edit routine" />;
}
