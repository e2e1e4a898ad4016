import { PageHeader } from '#ui/parts/page.tsx';

export function SignInPage() {
  return <PageHeader title="Sign in" />;
}
