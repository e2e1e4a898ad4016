import { LRUCache } from 'lru-cache';

// A format takes a millisecond to make, as long as a run's whole prompt takes without, and is the same for all runs.
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
