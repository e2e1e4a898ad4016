import { lazy, Suspense } from 'react';
import { VIEWER_ZONE } from '#ui/format/locale.ts';
import { scheduleInWords } from '#ui/format/schedule.ts';

const Gloss = lazy(() => import('./schedule-gloss.tsx'));

export interface ScheduleProps {
  readonly cron: string;
  /** Zone of its times, which is named where it is not the reader's. */
  readonly zone?: string;
}

/** Shows a schedule in words, with the cron expression as its title. */
export function Schedule({ cron, zone }: ScheduleProps) {
  const words = scheduleInWords(cron);
  const hasTime = words === undefined || /\d\d:\d\d/.test(words);
  return (
    <span title={zone === undefined ? cron : `${cron}, ${zone}`}>
      {words ?? (
        <Suspense fallback={<code>{cron}</code>}>
          <Gloss cron={cron} />
        </Suspense>
      )}
      {hasTime && zone !== undefined && zone !== VIEWER_ZONE && `, ${zone}`}
    </span>
  );
}
