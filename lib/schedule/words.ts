import { capitalized } from '../text.ts';
import { ScheduleError } from './expression.ts';
import { parseStoredSchedule } from './parse-schedule.ts';
import type { ParsedSchedule, ScheduledDays } from './parsed-schedule.ts';

/**
 * Writes a schedule in words: "Every Monday at 07:00", "On the 1st to 7th, and also every Monday, at 09:00". An invalid
 * schedule is returned unchanged.
 */
export function scheduleInWords(expression: string): string {
  try {
    const schedule = parseStoredSchedule(expression);
    const days = daysInWords(schedule.days);
    const months = monthsInWords(schedule.days);
    const times = timesOfDay(schedule);
    if (times !== undefined) {
      const comma = days.includes(',') ? ',' : '';
      return `${capitalized(days)}${comma} at ${times}${months}`;
    }
    const isDaily = days === 'every day';
    return capitalized(`${frequencyOf(schedule)}${isDaily ? '' : `, ${days}`}${months}`);
  } catch (error) {
    if (error instanceof ScheduleError) return expression;
    throw error;
  }
}

/**
 * Returns the days of a schedule whose two day fields are both restricted, so that each adds its own days; undefined
 * for any other schedule.
 */
export function eitherDayInWords(expression: string): string | undefined {
  const { days } = parseStoredSchedule(expression);
  return days.byDayOfMonth && days.byWeekday ? daysInWords(days) : undefined;
}

function daysInWords(days: ScheduledDays): string {
  const { byDayOfMonth, byWeekday } = days;
  const ofMonth = valuesIn(days.daysOfMonth, 1, 31);
  const isWholeWeek = days.nthWeekday === 0 && valuesIn(days.weekdays, 0, 6).length === 7;
  const isEveryDay = (byDayOfMonth && ofMonth.length === 31) || (byWeekday && isWholeWeek);
  if (isEveryDay || (!byDayOfMonth && !byWeekday)) return 'every day';
  if (!byWeekday) return `${datesInWords(ofMonth, days.lastDayOfMonth)} of the month`;
  const weekdays = weekdaysInWords(days);
  return byDayOfMonth ? `${datesInWords(ofMonth, days.lastDayOfMonth)}, and also ${weekdays}` : weekdays;
}

function datesInWords(dates: readonly number[], withLast: boolean): string {
  const step = stepOf(dates);
  const isRow = dates.length > 6 && step !== undefined && step > 1;
  const named = isRow
    ? [`every ${ordinal(step)} day from the ${ordinal(dates[0] ?? 1)}`]
    : rangesOf(dates).map(([from, to], index) => {
        const words = from === to ? ordinal(from) : `${ordinal(from)} to ${ordinal(to)}`;
        return index === 0 ? `the ${words}` : words;
      });
  return `on ${listed([...named, ...(withLast ? ['the last day'] : [])])}`;
}

const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const;
const NTH = ['', 'first', 'second', 'third', 'fourth', 'fifth'] as const;

function weekdaysInWords({ weekdays, nthWeekday, lastWeekdays }: ScheduledDays): string {
  // Weeks begin with Monday.
  const inOrder = (mask: number) => valuesIn(mask, 0, 6).toSorted((a, b) => ((a + 6) % 7) - ((b + 6) % 7));
  const plain = inOrder(weekdays);
  const names = plain.map((day) => WEEKDAYS[day] ?? '');
  const isRow = plain.every((day, index) => index === 0 || day === ((plain[index - 1] ?? 0) + 1) % 7);
  const last = inOrder(lastWeekdays).map((day) => `on the last ${WEEKDAYS[day]} of the month`);
  if (nthWeekday > 0) return listed([`on the ${NTH[nthWeekday]} ${listed(names)} of the month`, ...last]);
  const every = isRow && plain.length > 2 ? `every ${names[0]} to ${names.at(-1)}` : `every ${listed(names)}`;
  const words = plain.join() === '1,2,3,4,5' ? 'every weekday' : every;
  return listed([...(plain.length === 0 ? [] : [words]), ...last]);
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ');

function monthsInWords({ months }: ScheduledDays): string {
  const chosen = valuesIn(months, 1, 12);
  if (chosen.length === 12) return '';
  const name = (month: number) => MONTHS[month - 1] ?? '';
  return `, in ${listed(rangesOf(chosen).map(([from, to]) => (from === to ? name(from) : `${name(from)} to ${name(to)}`)))}`;
}

/** The most times of a day that are listed one by one. */
const MOST_TIMES = 6;

function timesOfDay({ minutes, hours }: ParsedSchedule): string | undefined {
  if (minutes.length * hours.length > MOST_TIMES) return undefined;
  return listed(hours.flatMap((hour) => minutes.map((minute) => `${two(hour)}:${two(minute)}`)));
}

/** Writes minutes and hours in words if they are too many for a list. */
function frequencyOf({ minutes, hours, everyHour }: ParsedSchedule): string {
  const [first = 0] = minutes;
  const step = wholeStep(minutes, 60);
  const isOnce = minutes.length === 1;
  const hourStep = everyHour ? 1 : wholeStep(hours, 24);
  if (isOnce && hourStep !== undefined) {
    return `every ${hourStep === 1 ? 'hour' : `${hourStep} hours`}${first === 0 ? '' : ` at :${two(first)}`}`;
  }
  if (isOnce) {
    const at = (hour: number) => `${two(hour)}:${two(first)}`;
    return listed(
      rangesOf(hours).map(([from, to]) =>
        from === to ? `at ${at(from)}` : `every hour from ${at(from)} to ${at(to)}`,
      ),
    );
  }
  const often =
    step === undefined
      ? `at ${listed(minutes.map((minute) => `:${two(minute)}`))} of every hour`
      : `every ${step === 1 ? 'minute' : `${step} minutes`}`;
  if (everyHour) return often;
  const ranges = rangesOf(hours).map(([from, to]) => `${two(from)}:00 to ${two(to)}:59`);
  return `${often} from ${listed(ranges)}`;
}

function wholeStep(values: readonly number[], size: number): number | undefined {
  const step = values.length === 1 ? undefined : stepOf(values);
  return values[0] === 0 && step !== undefined && step * values.length === size ? step : undefined;
}

function stepOf(values: readonly number[]): number | undefined {
  const step = (values[1] ?? 0) - (values[0] ?? 0);
  return values.length > 1 && values.every((value, at) => at === 0 || value - (values[at - 1] ?? 0) === step)
    ? step
    : undefined;
}

/** Joins neighbours: 1, 2, 3, 9 becomes 1 to 3 and 9. Two neighbours alone are not joined. */
function rangesOf(values: readonly number[]): (readonly [number, number])[] {
  const ranges: [number, number][] = [];
  for (const value of values) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === value - 1) last[1] = value;
    else ranges.push([value, value]);
  }
  return ranges.flatMap(([from, to]): (readonly [number, number])[] =>
    to === from + 1
      ? [
          [from, from],
          [to, to],
        ]
      : [[from, to]],
  );
}

function valuesIn(mask: number, from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at).filter((value) => (mask & (1 << value)) !== 0);
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

const ENDINGS: Readonly<Record<Intl.LDMLPluralRule, string>> = {
  zero: 'th',
  one: 'st',
  two: 'nd',
  few: 'rd',
  many: 'th',
  other: 'th',
};
const ORDINALS = new Intl.PluralRules('en', { type: 'ordinal' });

function ordinal(value: number): string {
  return `${value}${ENDINGS[ORDINALS.select(value)]}`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
