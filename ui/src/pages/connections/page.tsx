import { PageHeader } from '#ui/parts/page.tsx';

export function ConnectionsPage() {
  return <PageHeader title="Connections" />;
}
