import { PageHeader } from '#ui/parts/page.tsx';

export function VerifiedPage() {
  return <PageHeader title="E-mail address" />;
}
