import { VIEWER_ZONE } from '#ui/format/locale.ts';

export interface ScheduleProps {
  /** The schedule in the words of the service. */
  readonly words: string;
  readonly cron: string;
  /** Time zone of the schedule, shown if it is not the reader's. */
  readonly zone?: string;
}

/** Shows a schedule in words, with the cron expression as its title. */
export function Schedule({ words, cron, zone }: ScheduleProps) {
  const hasTime = /\d\d:\d\d/.test(words);
  return (
    <span title={zone === undefined ? cron : `${cron}, ${zone}`}>
      {words}
      {hasTime && zone !== undefined && zone !== VIEWER_ZONE && `, ${zone}`}
    </span>
  );
}
