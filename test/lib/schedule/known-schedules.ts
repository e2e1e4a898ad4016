import * as fc from 'fast-check';
import type { KnownSchedule } from './minute-oracle.ts';

/** Makes schedules with known occurrences, on and around the day and hour of a wall-clock time. */
export function knownSchedules(near: Date): fc.Arbitrary<KnownSchedule> {
  return fc
    .record({
      minute: timeField(60, near.getUTCMinutes()),
      hour: timeField(24, near.getUTCHours()),
      days: dayFields(near),
    })
    .map(({ minute, hour, days }) => ({
      expression: `${minute.text} ${hour.text} ${days.text}`,
      minutes: new Set(minute.values),
      hours: new Set(hour.values),
      isDue: days.isDue,
      everyHour: hour.values.length === 24,
      bothPasses: minute.isRepeating || hour.isRepeating,
    }));
}

interface TimeField {
  readonly text: string;
  readonly values: readonly number[];
  /** True for a wildcard or a step. */
  readonly isRepeating: boolean;
}

function timeField(size: number, near: number): fc.Arbitrary<TimeField> {
  const value = fc.oneof(
    fc.nat(size - 1),
    fc.integer({ min: -3, max: 3 }).map((shift) => (near + shift + size) % size),
  );
  const all = numbers(0, size - 1);
  const fixed = (text: string, values: readonly number[]): TimeField => ({
    text,
    values,
    isRepeating: values.length === size,
  });
  const range = fc.tuple(value, value).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);
  const step = fc.integer({ min: 1, max: size === 60 ? 30 : 12 });
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant(fixed('*', all)) },
    { weight: 4, arbitrary: value.map((only) => fixed(`${only}`, [only])) },
    { weight: 1, arbitrary: fc.constant(fixed(`0-${size - 1}`, all)) },
    {
      weight: 2,
      arbitrary: fc.uniqueArray(value, { minLength: 2, maxLength: 5 }).map((values) => fixed(values.join(','), values)),
    },
    { weight: 3, arbitrary: range.map(([a, b]) => fixed(`${a}-${b}`, numbers(a, b))) },
    { weight: 3, arbitrary: step.map((by) => stepped(`*/${by}`, numbers(0, size - 1, by))) },
    {
      weight: 2,
      arbitrary: fc.tuple(range, step).map(([[a, b], by]) => stepped(`${a}-${b}/${by}`, numbers(a, b, by))),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(value, step).map(([a, by]) => stepped(`${a}/${by}`, numbers(a, size - 1, by))),
    },
  );
}

function stepped(text: string, values: readonly number[]): TimeField {
  return { text, values, isRepeating: true };
}

interface DayFields {
  readonly text: string;
  readonly isDue: (date: Date) => boolean;
}

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const WEEKDAYS = 'sun mon tue wed thu fri sat'.split(' ');

function dayFields(near: Date): fc.Arbitrary<DayFields> {
  return fc
    .record({ shift: fc.integer({ min: -1, max: 1 }), form: fc.nat(14), upper: fc.boolean() })
    .map(({ shift, form, upper }) => {
      const around = new Date(near.getTime() + shift * 86_400_000);
      const day = around.getUTCDate();
      const month = around.getUTCMonth();
      const weekday = around.getUTCDay();
      const nth = nthOfMonth(around);
      const name = upper ? WEEKDAYS[weekday]!.toUpperCase() : WEEKDAYS[weekday]!;
      const monthName = upper ? MONTHS[month]!.toUpperCase() : MONTHS[month]!;
      const isDay = (date: Date): boolean => date.getUTCDate() === day;
      const isMonth = (date: Date): boolean => date.getUTCMonth() === month;
      const isWeekday = (date: Date): boolean => date.getUTCDay() === weekday;
      const forms: DayFields[] = [
        { text: '* * *', isDue: () => true },
        { text: '? * ?', isDue: () => true },
        { text: `${day} * *`, isDue: isDay },
        { text: `${day} ${month + 1} *`, isDue: (date) => isDay(date) && isMonth(date) },
        { text: `${day} ${monthName} *`, isDue: (date) => isDay(date) && isMonth(date) },
        { text: `* * ${weekday === 0 ? 7 : weekday}`, isDue: isWeekday },
        { text: `* * ${name}`, isDue: isWeekday },
        {
          text: `${day} * ${(weekday + 2) % 7}`,
          isDue: (date) => isDay(date) || date.getUTCDay() === (weekday + 2) % 7,
        },
        { text: '* * 1-5', isDue: (date) => date.getUTCDay() % 6 !== 0 },
        { text: '* * 6-7', isDue: (date) => date.getUTCDay() % 6 === 0 },
        {
          text: `* * ${weekday}#${nth}`,
          isDue: (date) => isWeekday(date) && nthOfMonth(date) === nth,
        },
        { text: `* * ${weekday}L`, isDue: (date) => isWeekday(date) && isLast(date, 7) },
        { text: 'L * *', isDue: (date) => isLast(date, 1) },
        { text: '*/2 * *', isDue: (date) => date.getUTCDate() % 2 === 1 },
        { text: `* ${month + 1} *`, isDue: isMonth },
      ];
      return forms[form]!;
    });
}

function nthOfMonth(date: Date): number {
  return Math.floor((date.getUTCDate() - 1) / 7) + 1;
}

/** Tells whether adding `days` leaves the month. */
function isLast(date: Date, days: number): boolean {
  return new Date(date.getTime() + days * 86_400_000).getUTCMonth() !== date.getUTCMonth();
}

function numbers(from: number, to: number, step = 1): number[] {
  return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step);
}
