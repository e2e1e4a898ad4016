import { PageHeader } from '#ui/parts/page.tsx';

export function SettingsPage() {
  return <PageHeader title="Settings" />;
}
