import { addDays, dayStart } from '#ui/format/days.ts';

export const VIEWS = ['week', 'month', 'hours'] as const;
export type View = (typeof VIEWS)[number];

export interface Period {
  readonly start: Date;
  readonly days: number;
  /** Start of the previous period; `after` is the start of the next period. */
  readonly before: Date;
  readonly after: Date;
}

/** Returns the week of the address's day, or all weeks of its month, in the reader's time zone. */
export function periodOf(view: View, text: string | undefined, now = new Date()): Period {
  const at = dayStart(text) ?? now;
  if (view !== 'month') {
    const start = mondayOf(at);
    return { start, days: 7, before: addDays(start, -7), after: addDays(start, 7) };
  }
  const first = new Date(at.getFullYear(), at.getMonth(), 1);
  const after = new Date(at.getFullYear(), at.getMonth() + 1, 1);
  const start = mondayOf(first);
  const days = Math.ceil(daysBetween(start, after) / 7) * 7;
  return { start, days, before: new Date(at.getFullYear(), at.getMonth() - 1, 1), after };
}

/** Returns a day of the month whose weeks begin at `start`: the third Monday, never in a neighbouring month. */
export function monthOf(start: Date): Date {
  return addDays(start, 14);
}

function mondayOf(at: Date): Date {
  return addDays(at, -((at.getDay() + 6) % 7));
}

/** Counts days of the calendar, some of which have 23 or 25 hours. */
function daysBetween(from: Date, to: Date): number {
  return Math.round((to.getTime() - from.getTime()) / 86_400_000);
}
