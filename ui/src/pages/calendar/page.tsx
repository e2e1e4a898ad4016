import { PageHeader } from '#ui/parts/page.tsx';

export function CalendarPage() {
  return <PageHeader title="Calendar" />;
}
