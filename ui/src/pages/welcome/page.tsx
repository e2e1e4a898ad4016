import { PageHeader } from '#ui/parts/page.tsx';

export function WelcomePage() {
  return <PageHeader title="Welcome" />;
}
