import { PageHeader } from '#ui/parts/page.tsx';

export function VersionsPage() {
  return <PageHeader title="Versions" />;
}
