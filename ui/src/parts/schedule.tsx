import { lazy, Suspense } from 'react';
import { scheduleInWords } from '#ui/format/schedule.ts';

const Gloss = lazy(() => import('./schedule-gloss.tsx'));

/** Shows a schedule in words, with the cron expression as its title. */
export function Schedule({ cron, zone }: { readonly cron: string; readonly zone?: string }) {
  const words = scheduleInWords(cron);
  return (
    <span title={zone === undefined ? cron : `${cron}, ${zone}`}>
      {words ?? (
        <Suspense fallback={<code>{cron}</code>}>
          <Gloss cron={cron} />
        </Suspense>
      )}
    </span>
  );
}
