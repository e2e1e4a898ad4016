import { useNow } from '#ui/format/now.ts';
import { countdown, dateTime, exactTime, relative } from '#ui/format/times.ts';

export interface TimeProps {
  /** An instant as the API writes it; null shows a dash. */
  readonly at: string | null;
  /** `date`: Mon 23 Nov, 07:00. `relative`: 5 minutes ago. `countdown`: 4:05 within a day, otherwise as `relative`. */
  readonly as?: 'date' | 'relative' | 'countdown';
  /** The zone of `date`; the reader's by default. */
  readonly zone?: string;
  readonly className?: string;
}

const DAY_MS = 86_400_000;

/** Shows an instant in words, with the exact time and its zone as the title. */
export function Time({ at, as = 'date', zone, className }: TimeProps) {
  if (at === null) return <span className="text-faint">–</span>;
  const instant = new Date(at);
  return (
    <time dateTime={at} title={exactTime(instant, zone)} className={className}>
      {as === 'date' ? dateTime(instant, zone) : <Moving at={instant} as={as} />}
    </time>
  );
}

function Moving({ at, as }: { at: Date; as: 'relative' | 'countdown' }) {
  // oxlint-disable-next-line react/purity -- it sets how often the text is made, not what it says
  const left = at.getTime() - Date.now();
  const ticks = as === 'countdown' && left < 3_600_000;
  const now = useNow(ticks ? 1_000 : 20_000);
  const ms = at.getTime() - now.getTime();
  if (as === 'relative' || ms <= 0 || ms > DAY_MS) return relative(at, now);
  return ms < 3_600_000 ? <span className="tabular">in {countdown(ms)}</span> : relative(at, now);
}
