import { PageHeader } from '#ui/parts/page.tsx';

export function BillingPage() {
  return <PageHeader title="Billing" />;
}
