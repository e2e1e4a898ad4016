import { PageHeader } from '#ui/parts/page.tsx';

export function SkillsPage() {
  return <PageHeader title="Skills" />;
}
