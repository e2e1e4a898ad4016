import { PageHeader } from '#ui/parts/page.tsx';

export function ToolsPage() {
  return <PageHeader title="Tools" />;
}
