import { PageHeader } from '#ui/parts/page.tsx';

export function UsagePage() {
  return <PageHeader title="Usage" />;
}
