import { PageHeader } from '#ui/parts/page.tsx';

export function RunsPage() {
  return <PageHeader title="Runs" />;
}
