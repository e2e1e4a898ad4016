import { PageHeader } from '#ui/parts/page.tsx';

export function RoutinesPage() {
  return <PageHeader title="Routines" />;
}
