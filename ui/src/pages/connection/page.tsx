import { PageHeader } from '#ui/parts/page.tsx';

export function ConnectionPage() {
  return <PageHeader title="Connection" />;
}
