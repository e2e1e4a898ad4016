import { PageHeader } from '#ui/parts/page.tsx';

export function ResetPasswordPage() {
  return <PageHeader title="Choose a new password" />;
}
