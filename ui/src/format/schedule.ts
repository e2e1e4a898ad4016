/** A schedule of a simple form, which the presets of the composer write. */
export interface Preset {
  readonly kind: 'minutes' | 'hourly' | 'daily' | 'weekly' | 'monthly';
  /** Minutes from one run to the next, where `kind` is `minutes`. */
  readonly every: number;
  readonly minute: number;
  readonly hour: number;
  /** 0 is Sunday. */
  readonly weekdays: readonly number[];
  readonly day: number;
}

export const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const;

export const DEFAULT_PRESET: Preset = {
  kind: 'daily',
  every: 15,
  minute: 0,
  hour: 7,
  weekdays: [1],
  day: 1,
};

/** Writes a preset as five cron fields. */
export function cronOf({ kind, every, minute, hour, weekdays, day }: Preset): string {
  switch (kind) {
    case 'minutes':
      return `*/${every} * * * *`;
    case 'hourly':
      return `${minute} * * * *`;
    case 'daily':
      return `${minute} ${hour} * * *`;
    case 'weekly':
      return `${minute} ${hour} * * ${daysText(weekdays)}`;
    case 'monthly':
      return `${minute} ${hour} ${day} * *`;
  }
}

const NAMED: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
};

/** Reads a cron expression as a preset; undefined if no preset can express it. */
export function presetOf(cron: string): Preset | undefined {
  const text = cron.trim().replaceAll(/\s+/g, ' ');
  const fields = (NAMED[text] ?? text).split(' ');
  const [minutes = '', hours = '', days = '', months = '', weekdays = ''] = fields;
  if (fields.length !== 5 || months !== '*') return undefined;
  const every = /^\*\/(\d{1,2})$/.exec(minutes)?.[1];
  if (every !== undefined && hours === '*' && days === '*' && weekdays === '*') {
    const length = Number(every);
    // Refuse a step that does not divide the hour: cron starts it again at each full hour, which a preset would hide.
    return length > 0 && 60 % length === 0 ? { ...DEFAULT_PRESET, kind: 'minutes', every: length } : undefined;
  }
  const minute = numberIn(minutes, 59);
  if (minute === undefined) return undefined;
  if (hours === '*' && days === '*' && weekdays === '*') {
    return { ...DEFAULT_PRESET, kind: 'hourly', minute };
  }
  const hour = numberIn(hours, 23);
  if (hour === undefined) return undefined;
  const time = { ...DEFAULT_PRESET, minute, hour };
  if (days === '*' && weekdays === '*') return { ...time, kind: 'daily' };
  if (days === '*') {
    const list = weekdaysIn(weekdays);
    return list === undefined ? undefined : { ...time, kind: 'weekly', weekdays: list };
  }
  const day = numberIn(days, 31);
  return day === undefined || day === 0 || weekdays !== '*' ? undefined : { ...time, kind: 'monthly', day };
}

/** Sorts weekdays from Monday on. */
export function inWeekOrder(weekdays: readonly number[]): number[] {
  return weekdays.toSorted((a, b) => ((a + 6) % 7) - ((b + 6) % 7));
}

function daysText(weekdays: readonly number[]): string {
  const sorted = weekdays.toSorted((a, b) => a - b);
  return sorted.join() === '1,2,3,4,5' ? '1-5' : sorted.join();
}

const NAMES = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

function weekdaysIn(text: string): number[] | undefined {
  const found = new Set<number>();
  for (const part of text.toLowerCase().split(',')) {
    const [from, to = from] = part.split('-').map((end) => weekdayIn(end));
    if (from === undefined || to === undefined || from > to) return undefined;
    for (let day = from; day <= to; day += 1) found.add(day % 7);
  }
  return [...found].toSorted((a, b) => a - b);
}

function weekdayIn(text: string): number | undefined {
  const named = NAMES.indexOf(text);
  return named === -1 ? numberIn(text, 7) : named;
}

function numberIn(text: string, max: number): number | undefined {
  return /^\d{1,2}$/.test(text) && Number(text) <= max ? Number(text) : undefined;
}
