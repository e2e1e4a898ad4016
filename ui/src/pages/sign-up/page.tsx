import { PageHeader } from '#ui/parts/page.tsx';

export function SignUpPage() {
  return <PageHeader title="Sign up" />;
}
