import { LOCALE, VIEWER_ZONE } from './locale.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const SHORT = {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
} as const;
const LONG = { ...SHORT, year: 'numeric' } as const;
const RELATIVE = new Intl.RelativeTimeFormat(LOCALE, { numeric: 'auto' });
const formats = new Map<string, Intl.DateTimeFormat>();

/** Keeps each format: a long list has thousands of times, and making a format takes far longer than using it. */
function formatOf(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = JSON.stringify(options);
  const format = formats.get(key) ?? new Intl.DateTimeFormat(LOCALE, options);
  formats.set(key, format);
  return format;
}

/** Formats an instant as "Mon 23 Nov, 07:00", with the year if it is not this one. */
export function dateTime(at: Date, zone = VIEWER_ZONE, now = new Date()): string {
  const isThisYear = at.getFullYear() === now.getFullYear();
  return formatOf({ ...(isThisYear ? SHORT : LONG), timeZone: zone }).format(at);
}

/** Formats an instant for a field of date and time, in the reader's zone: "2026-11-23T07:00". */
export function inputTime(at: Date): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-');
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** Formats a date: "23 Nov 2026". */
export function date(at: Date, zone = VIEWER_ZONE): string {
  return formatOf({ dateStyle: 'medium', timeZone: zone }).format(at);
}

/** Formats the time of day: "07:00". */
export function clock(at: Date, zone = VIEWER_ZONE): string {
  return formatOf({ hour: '2-digit', minute: '2-digit', timeZone: zone }).format(at);
}

/** Formats the whole instant with its time zone, for titles. */
export function exactTime(at: Date, zone = VIEWER_ZONE): string {
  const text = formatOf({ dateStyle: 'full', timeStyle: 'medium', timeZone: zone }).format(at);
  return `${text} (${zone})`;
}

/** Formats a time relative to now: "5 minutes ago", "in 3 hours", "just now". */
export function relative(at: Date, now = new Date()): string {
  const ms = at.getTime() - now.getTime();
  const size = Math.abs(ms);
  if (size < 10 * SECOND) return ms <= 0 ? 'just now' : 'now';
  if (size < MINUTE) return RELATIVE.format(Math.trunc(ms / SECOND), 'second');
  if (size < HOUR) return RELATIVE.format(Math.trunc(ms / MINUTE), 'minute');
  if (size < DAY) return RELATIVE.format(Math.trunc(ms / HOUR), 'hour');
  if (size < 45 * DAY) return RELATIVE.format(Math.trunc(ms / DAY), 'day');
  return RELATIVE.format(Math.trunc(ms / (30.44 * DAY)), 'month');
}

/** Formats a duration: "1 h 5 min", "12 s", "840 ms". */
export function duration(ms: number): string {
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < 10 * SECOND) return `${(ms / SECOND).toFixed(1)} s`;
  if (ms < MINUTE) return `${Math.round(ms / SECOND)} s`;
  if (ms < HOUR) return pair(ms, MINUTE, 'min', SECOND, 's');
  if (ms < DAY) return pair(ms, HOUR, 'h', MINUTE, 'min');
  return pair(ms, DAY, 'd', HOUR, 'h');
}

/** Formats the time left, to the second: "4:05", "2:10:00". */
export function countdown(ms: number): string {
  const left = Math.max(0, Math.ceil(ms / SECOND));
  const [hours, minutes, seconds] = [Math.floor(left / 3_600), Math.floor(left / 60) % 60, left % 60];
  const tail = `${String(minutes).padStart(hours > 0 ? 2 : 1, '0')}:${String(seconds).padStart(2, '0')}`;
  return hours > 0 ? `${hours}:${tail}` : tail;
}

function pair(ms: number, large: number, largeUnit: string, small: number, smallUnit: string) {
  const first = Math.floor(ms / large);
  const second = Math.floor((ms % large) / small);
  return second === 0 ? `${first} ${largeUnit}` : `${first} ${largeUnit} ${second} ${smallUnit}`;
}
