import { LRUCache } from 'lru-cache';

// Making a format takes most of a millisecond, longer than rendering the rest of a prompt, and it serves every run.
const formats = new LRUCache<string, ReturnType<typeof formatsOf>>({
  max: 200,
  memoMethod: (timeZone) => formatsOf(timeZone),
});

/** Returns the calendar date of an instant in a time zone, `YYYY-MM-DD`. */
export function localDate(instant: Date, timeZone: string): string {
  return formats.memo(timeZone).date.format(instant);
}

/** Returns an instant with its weekday, in a time zone and in UTC. */
export function inWords(instant: Date, timeZone: string): string {
  const { day, time } = formats.memo(timeZone);
  return `${day.format(instant)}, ${time.format(instant)} in ${timeZone} (${instant.toISOString()})`;
}

function formatsOf(timeZone: string) {
  return {
    // The Swedish locale writes dates as ISO 8601 does.
    date: new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }),
    day: new Intl.DateTimeFormat('en-GB', {
      timeZone,
      weekday: 'long',
      day: 'numeric',
      month: 'long',
      year: 'numeric',
    }),
    time: new Intl.DateTimeFormat('en-GB', {
      timeZone,
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    }),
  };
}
