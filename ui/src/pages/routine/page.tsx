import { PageHeader } from '#ui/parts/page.tsx';

export function RoutinePage() {
  return <PageHeader title="Routine" />;
}
