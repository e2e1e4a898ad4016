import { PageHeader } from '#ui/parts/page.tsx';

export function RunPage() {
  return <PageHeader title="Run" />;
}
