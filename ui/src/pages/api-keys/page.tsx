import { PageHeader } from '#ui/parts/page.tsx';

export function ApiKeysPage() {
  return <PageHeader title="API keys" />;
}
