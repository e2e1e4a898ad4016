import { PageHeader } from '#ui/parts/page.tsx';

export function HomePage() {
  return <PageHeader title="Home" />;
}
