import { PageHeader } from '#ui/parts/page.tsx';

export function ModelAccountsPage() {
  return <PageHeader title="Model accounts" />;
}
