import { PageHeader } from '#ui/parts/page.tsx';

export function SkillPage() {
  return <PageHeader title="Skill" />;
}
