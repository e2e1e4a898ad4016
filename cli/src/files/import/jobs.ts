import type { Head } from '../document.ts';

/** Kinds of files with jobs of other systems. */
export const JOB_KINDS = ['crontab', 'n8n', 'claude', 'openclaw', 'hermes'] as const;
export type JobKind = (typeof JOB_KINDS)[number];

/** A job of another system as a routine. */
export interface Job {
  readonly name: string;
  readonly instructions: string;
  readonly schedule: string;
  readonly timezone?: string | undefined;
  /** Other fields for the head of the routine's file. */
  readonly head?: Head;
  /** Parts of the job without a counterpart, and the choices made for them. */
  readonly notes: readonly string[];
}

/** A job that cannot be a routine. */
export interface Skipped {
  readonly name: string;
  readonly why: string;
}

export interface Jobs {
  readonly jobs: readonly Job[];
  readonly skipped: readonly Skipped[];
}

/** A schedule, or the reason why the job has none. */
export type Timing = { readonly schedule: string; readonly notes: readonly string[] } | { readonly why: string };

/**
 * Turns an interval into five cron fields: exactly if it divides the hour or the day, else by the nearest interval that
 * does.
 */
export function everyMinutes(minutes: number): Timing {
  if (!(minutes > 0)) return { why: 'its interval is no number' };
  const whole = Math.max(1, Math.round(minutes));
  const [unit, most, render] =
    whole < 60
      ? ([1, 60, (n: number) => (n === 1 ? '* * * * *' : `*/${n} * * * *`)] as const)
      : whole < 1_440
        ? ([60, 24, (n: number) => (n === 1 ? '0 * * * *' : `0 */${n} * * *`)] as const)
        : ([1_440, 31, (n: number) => (n === 1 ? '0 0 * * *' : `0 0 */${n} * *`)] as const);
  const count = whole / unit;
  const fitting = Array.from({ length: most - 1 }, (_, at) => at + 1).filter(
    (n) => most % n === 0 || (most === 31 && n === 1),
  );
  const nearest = fitting.reduce((best, n) => (Math.abs(n - count) < Math.abs(best - count) ? n : best));
  const schedule = render(nearest);
  if (nearest === count && whole === minutes) {
    const fixed = 'an interval counted from the last run; here the times are fixed on the clock';
    return { schedule, notes: [fixed] };
  }
  return { schedule, notes: [`every ${minutes} minutes is no cron schedule: chose ${schedule}`] };
}

/** The numbers of the five fields: minute, hour, day, month and weekday. */
const BOUNDS = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 7],
] as const;
const NAMES = /^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|sun|mon|tue|wed|thu|fri|sat)$/i;
const MACROS = /^@(?:yearly|annually|monthly|weekly|daily|midnight|hourly)$/;

/** Finds the first faulty field of a cron expression; the service checks the rest when the file is planned. */
function badField(fields: readonly string[]): string | undefined {
  return fields.find((field, at) => {
    const [least, most] = BOUNDS[at] ?? [0, 0];
    const isNumber = (text: string) => /^\d+$/.test(text) && Number(text) >= least && Number(text) <= most;
    return !field.split(',').every((part) => {
      const [range = '', step, more] = part.split('/');
      if (more !== undefined || (step !== undefined && !/^[1-9]\d*$/.test(step))) return false;
      const ends = range.split('-');
      const isEnd = (text: string) => isNumber(text) || (at > 2 && NAMES.test(text));
      return (
        range === '*' || range === '?' || (ends.length <= 2 && ends.every(isEnd)) || /^(?:L|\d+[LW#]\d?)$/i.test(range)
      );
    });
  });
}

/** Removes the seconds from a cron expression of six fields. */
export function fiveFields(given: unknown): Timing {
  const expression = textOf(given) ?? '';
  const fields = expression.trim().split(/\s+/);
  const [first = ''] = fields;
  if (first.startsWith('@')) {
    return MACROS.test(first) ? { schedule: first, notes: [] } : { why: `${first.slice(0, 40)} is not a time` };
  }
  const bad = badField(fields.length === 6 ? fields.slice(1) : fields);
  if (fields.length >= 5 && fields.length <= 6 && bad !== undefined) {
    return { why: `its time "${bad.slice(0, 40)}" is not cron` };
  }
  if (fields.length === 5) return { schedule: fields.join(' '), notes: [] };
  if (fields.length !== 6) return { why: `"${expression.slice(0, 100)}" has ${fields.length} fields, not 5` };
  const [seconds, ...rest] = fields;
  const note = seconds === '0' || seconds === '00' ? [] : [`the seconds (${seconds}) have no counterpart`];
  return { schedule: rest.join(' '), notes: note };
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** Returns the objects of a list, at most as many as one file may hold. */
export function objectsOf(value: unknown): Readonly<Record<string, unknown>>[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [];
  return list.slice(0, MAX_JOBS + 1).flatMap((each) =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every field of an object is unknown
    typeof each === 'object' && each !== null ? [each as Record<string, unknown>] : [],
  );
}

export const MAX_JOBS = 500;
