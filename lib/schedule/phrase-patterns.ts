import { LIMITS, NO_RHYTHM, REFUSALS } from './phrase-refusals.ts';
import {
  clockTime,
  dateOf,
  monthsIn,
  numberOf,
  rangeOf,
  sticky,
  weekdaysIn,
  WHICH_HALF,
  type ClockTime,
  type DayPart,
} from './phrase-values.ts';

type Period = 'day' | 'week' | 'month' | 'quarter' | 'year';

/**
 * Meaning of words about a schedule. Words with `once` may also mean a single day, and words with `isWeak` may mean
 * something else. Both count only in a sentence without another rhythm. A refusal with `once` concerns the words beside
 * it.
 */
export type Meaning = { readonly once?: boolean; readonly isWeak?: boolean } & (
  | { readonly kind: 'weekdays'; readonly days: string }
  /** Days of the month, and months if they are named, in the form of cron. */
  | { readonly kind: 'dates'; readonly dates: string; readonly months: string }
  | { readonly kind: 'months'; readonly months: string }
  /** `count` is the number of days or times that must follow. */
  | { readonly kind: 'period'; readonly of: Period; readonly count: number }
  | { readonly kind: 'interval'; readonly minutes: number }
  | { readonly kind: 'window'; readonly from: ClockTime; readonly to: ClockTime }
  | {
      readonly kind: 'times';
      readonly times: readonly ClockTime[];
      readonly part?: DayPart;
      readonly isMidnight: boolean;
    }
  | { readonly kind: 'minute'; readonly minute: number }
  | { readonly kind: 'part'; readonly part: DayPart; readonly daily: boolean }
  | { readonly kind: 'except'; readonly days: readonly number[] }
  | { readonly kind: 'refused'; readonly why: string }
);

type Groups = Readonly<Record<string, string | undefined>>;
export type Pattern = readonly [RegExp, (groups: Groups, whole: string) => Meaning];

/** Patterns that are tried at each word of a sentence in lower case; the first match counts. */
export const PATTERNS: readonly Pattern[] = [
  ...REFUSALS.map(([source, why]): Pattern => [sticky(source), () => refused(why)]),
  [
    sticky(
      '(?:except|but|excluding|apart from|other than)(?: not)?(?: for)?(?: on)?(?: the)? (?:(?<from>{weekday}){to}(?<to>{weekday})|(?<days>(?:{weekday}|weekends?)(?:{and}(?:{weekday}|weekends?))*))(?!{to}{weekday})',
    ),
    ({ from = '', to = '', days }) => ({
      kind: 'except',
      days: days === undefined ? daysBetween(from, to) : weekdaysIn(days),
    }),
  ],
  [
    sticky(
      '(?:on )?(?:the |{every} )?(?<nth>(?!fifth|[56]th){nth}) (?<day>{weekday})(?<said> (?:of|in) (?:the|a|{every}) month| {every} month)?',
    ),
    ({ nth = '', day = '', said }) => ({
      kind: 'weekdays',
      days: `${weekdaysIn(day).join('')}${nth === 'last' ? 'L' : `#${dateOf(nth)}`}`,
      once: said === undefined,
    }),
  ],
  [
    sticky(
      '(?:(?:from|between|on|{every}) )*(?:the )?(?:days (?<from>\\d{1,2})(?:{to}| and )(?<to>\\d{1,2})|(?<first>{nth})(?:{to}|(?<=between.*) and )(?:the )?(?<last>{nth}))(?: day)?(?! {weekday})(?<said> (?:of|in) (?:the|a|{every}) month| {every} month)?',
    ),
    ({ from, to, first = '', last = '', said }) => {
      const [start, end] = [Number(from ?? dateOf(first)), Number(to ?? dateOf(last))];
      if (!(start > 0 && start < end && end <= 28)) return refused('does not say days that every month has');
      return { kind: 'dates', dates: `${start}-${end}`, months: '*', once: said === undefined };
    },
  ],
  [
    sticky('(?:on )?(?:the )?(?<day>first|1st|last) day of (?:the|a|{every}) quarter'),
    ({ day }) =>
      day === 'last'
        ? { kind: 'dates', dates: 'L', months: '3,6,9,12' }
        : { kind: 'dates', dates: '1', months: '1,4,7,10' },
  ],
  [
    sticky(
      '(?:on )?(?<all>{every} )?(?:the )?(?<dates>{nth}(?:{and}{nth})*)(?: day)? of (?<months>{month}(?:{and}{month})*)(?<year> {every} year)?',
    ),
    ({ dates = '', months, all, year }) => datesOf(dates, months, all === undefined && year === undefined),
  ],
  [
    sticky(
      '(?:on )?(?<all>{every} )?(?:(?<month>{month}) (?:the )?(?<date>{nth}|\\d{1,2})|(?<before>{nth}|\\d{1,2}) (?<after>{month}))(?![:.]\\d)(?<year> (?:of )?{every} year)?',
    ),
    ({ date, month, before, after, all, year }) =>
      datesOf(date ?? before ?? '', month ?? after, all === undefined && year === undefined),
  ],
  [
    sticky(
      '(?:on )?(?:the )?(?:day (?<date>\\d{1,2})|(?<dates>{nth}(?:{and}{nth})*)(?: day)?)(?: (?:of|in) (?:the|a|{every}) month| {every} month)',
    ),
    ({ date, dates }) => datesOf(date ?? dates ?? '', undefined, false),
  ],
  [
    sticky(
      '(?<all>{every} |on the |on )(?<dates>{nth}(?:{and}{nth})*)(?: day)?(?! (?:{num} )?(?:hour|minute|week|time|quarter|month|year|half|days))',
    ),
    ({ all = '', dates = '' }) => datesOf(dates, undefined, all.startsWith('on')),
  ],
  // A date after other dates: "the 1st of each month and the 15th".
  [sticky('(?<date>\\d{1,2}(?:st|nd|rd|th))'), ({ date = '' }) => datesOf(date, undefined, true)],
  [
    sticky('(?:(?:from|in|during) )?(?<from>{month}){to}(?<to>{month})|between (?<first>{month}) and (?<last>{month})'),
    ({ from, to, first = '', last = '' }) => {
      const ends = [from ?? first, to ?? last].flatMap((month) => monthsIn(month));
      return { kind: 'months', months: rangeOf(ends, 12, 1).join(','), once: true };
    },
  ],
  [
    sticky('(?<how>in |during |throughout |of |{every} )(?<months>{month}(?:{and}{month})*)'),
    ({ how = '', months = '' }) => ({
      kind: 'months',
      months: monthsIn(months).join(','),
      once: !/ea?ch|ev/.test(how),
    }),
  ],
  [
    sticky('(?:(?:from|between|on|{every}) )*(?<from>{weekday}){to}(?<to>{weekday})'),
    ({ from = '', to = '' }) => ({ kind: 'weekdays', days: daysBetween(from, to).join(',') }),
  ],
  [
    sticky('(?:on |{every} )?{workday}s|{every} {workday}|(?:on )?{workday}(?= {part}s)|m-f|mo-fr'),
    () => ({ kind: 'weekdays', days: '1-5' }),
  ],
  [sticky('(?:on |at )?(?:the )?weekends(?! included)'), () => ({ kind: 'weekdays', days: '0,6' })],
  [
    sticky('{every} (?<days>{days})|(?:on )?(?<plurals>{plural}(?:{and}{plural})*)'),
    ({ days, plurals }) => ({ kind: 'weekdays', days: weekdaysIn(days ?? plurals ?? '').join(',') }),
  ],
  [
    sticky('(?:on )?(?<days>{days})(?= {part}s)'),
    ({ days = '' }) => ({ kind: 'weekdays', days: weekdaysIn(days).join(',') }),
  ],
  [sticky('(?:on )?{days}'), (_, whole) => ({ kind: 'weekdays', days: weekdaysIn(whole).join(','), once: true })],
  [sticky('{every} (?:other|second|2nd) hour'), () => ({ kind: 'interval', minutes: 120 })],
  [sticky('{every} half(?:[ -]an)?[ -]hour|half-?hourly'), () => ({ kind: 'interval', minutes: 30 })],
  [sticky('{every} quarter(?: of an)? hour'), () => ({ kind: 'interval', minutes: 15 })],
  [
    sticky('(?:once )?(?:{every}|once an|once per)(?: (?<count>{num}))? ?(?<unit>hour|hr|h|minute|min)s?(?! past)'),
    ({ count = '1', unit = '' }) => ({ kind: 'interval', minutes: numberOf(count) * (unit.startsWith('h') ? 60 : 1) }),
  ],
  [sticky('hourly'), () => ({ kind: 'interval', minutes: 60, isWeak: true })],
  [
    sticky(
      '(?<count>once|twice|{num} times) (?:(?:a|per|{every}) (?<of>day|week|month|quarter|year)|(?<adverb>daily|weekly|monthly))',
    ),
    ({ count = '', of, adverb = '' }) => ({
      kind: 'period',
      of: periodOf(of ?? adverb),
      count: count === 'once' ? 1 : count === 'twice' ? 2 : numberOf(count.split(' ')[0] ?? ''),
    }),
  ],
  [sticky('{every} (?<part>{part})|(?:nightly)'), ({ part = 'night' }) => partOf(part, true)],
  [
    sticky('{every} (?:one |1 |single )?(?<of>day|week|month|quarter|year)|everyday'),
    ({ of = 'day' }) => ({ kind: 'period', of: periodOf(of), count: 0 }),
  ],
  [
    sticky('daily|weekly|monthly|quarterly|yearly|annually'),
    (_, whole) => ({ kind: 'period', of: periodOf(whole), count: 0, isWeak: true }),
  ],
  ...NO_RHYTHM.map(([source, why]): Pattern => [sticky(source), () => refused(why, true)]),
  [
    sticky(
      '(?:at )?(?::|minute )(?<digits>\\d{2})|on the (?<half>half )?hour|(?:at )?(?<past>\\d{1,2}|half|quarter|five|ten|fifteen|twenty)(?: minutes?)? (?:past|(?<to>to(?= the hour| {every}|$)))(?: the hour)?(?! {num}| {named})',
    ),
    ({ digits, half, past, to }) => {
      const minute = minuteOf(digits ?? half?.trim() ?? past);
      return { kind: 'minute', minute: to === undefined ? minute : 60 - minute };
    },
  ],
  [
    sticky(
      '(?:from|between) (?<from>{clock})(?: ?- ?| to | until | till | and )(?<to>{clock})|(?<first>{plain}) ?(?:-|to|until) ?(?<last>{plain})',
    ),
    ({ from, to, first = '', last = '' }) => windowOf(from ?? first, to ?? last, false),
  ],
  [
    sticky('(?<from>\\d{1,2}(?::\\d{2})?)(?: ?- ?| to | until )(?<to>{plain}|\\d{1,2})'),
    ({ from = '', to = '' }) => windowOf(from, to, true),
  ],
  [
    sticky('(?:at|@) ?(?<list>{clock}(?:{and}{clock})*){end}(?: (?:in the |at )(?<part>{part}))?(?: sharp| hours)?'),
    ({ list = '', part }) => timesIn(list, part),
  ],
  [
    sticky('(?<list>{plain}(?:{and}{plain})*){end}(?: (?:in the |at )(?<part>{part}))?(?: sharp)?'),
    ({ list = '', part }) => timesIn(list, part),
  ],
  [sticky('(?<list>\\d{1,2}|{word}) in the (?<part>{part})'), ({ list = '', part }) => timesIn(list, part)],
  [sticky('(?:in the |on |at )?(?<part>{part})s?'), ({ part = '' }) => partOf(part, false)],
  [sticky('first thing|before work'), () => partOf('morning', false)],
  [sticky('(?:over|after) lunch|(?:end|close) of business'), () => partOf('afternoon', false)],
  [sticky('after work'), () => partOf('evening', false)],
  ...LIMITS.map(([source, why]): Pattern => [sticky(source), () => ({ kind: 'refused', why, once: true })]),
];

function refused(why: string, isWeak = false): Meaning {
  return { kind: 'refused', why, isWeak };
}

const NO_SUCH_TIME = 'is no time of day';

function windowOf(first: string, last: string, once: boolean): Meaning {
  const [from, to] = [clockTime(first), clockTime(last)];
  return from === undefined || to === undefined ? refused(NO_SUCH_TIME, once) : { kind: 'window', from, to, once };
}

function timesIn(list: string, part: string | undefined): Meaning {
  const written = [...list.matchAll(new RegExp(sticky('{clock}').source, 'g'))].map(([each]) => each);
  const half = /[ap]\.?m\.?$/.exec(written.at(-1) ?? '')?.[0] ?? '';
  // In "at 9 and 11 am", both times are in the morning.
  const whole = written.map((each) => (/[ap]\.?m|noon|midday|midnight|[:.]/.test(each) ? each : `${each}${half}`));
  const times = whole.map(clockTime);
  const known = times.filter((time) => time !== undefined);
  if (known.length < times.length) return refused(NO_SUCH_TIME);
  // Refuse "at 8 and 5 pm", where 8 is hardly meant as 8 pm.
  const isInOrder = known.every(({ hour }, at) => at === 0 || hour >= (known[at - 1]?.hour ?? 0));
  if (!isInOrder && whole.join() !== written.join()) return refused(WHICH_HALF);
  const isMidnight = written.some((each) => /^(?:12 )?midnight|past midnight/.test(each));
  // In "at 0, 6, 12 and 18", all times are on the clock of 24 hours.
  const is24 = half === '' && whole.some((each) => /^0|^1[3-9]|^2\d/.test(each));
  const read = is24 ? known.map((time) => ({ ...time, isCertain: true })) : known;
  return { kind: 'times', times: read, isMidnight, ...(part === undefined ? {} : { part: dayPart(part) }) };
}

function datesOf(text: string, named: string | undefined, once: boolean): Meaning {
  const words = text.split(/,? and (?:on )?(?:the )?|, ?|,? ?& ?/).map((word) => word.replace(/^(?:the|every) /, ''));
  const dates = words.map(dateOf);
  if (dates.some((date) => Number(date) > 31 || date === '0')) return refused('is no day of a month');
  const months = named === undefined ? [] : monthsIn(named);
  const days = dates.map(Number).filter((day) => day > 28);
  const shortest = months.length === 0 ? 28 : Math.min(...months.map((month) => LONGEST[month - 1] ?? 31));
  if (days.some((day) => day > shortest)) return refused('is a day that some months do not have: say the last day');
  return { kind: 'dates', dates: dates.join(','), months: months.length === 0 ? '*' : months.join(','), once };
}

/** Days of each month in a common year. */
const LONGEST = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function daysBetween(from: string, to: string): number[] {
  return rangeOf([...weekdaysIn(from), ...weekdaysIn(to)], 7, 0);
}

function minuteOf(word: string | undefined): number {
  if (word === undefined) return 0;
  return word === 'half' ? 30 : word === 'quarter' ? 15 : numberOf(word);
}

function periodOf(word: string): Period {
  const named = (['day', 'week', 'month', 'quarter', 'year'] as const).find((period) => word.startsWith(period));
  return named ?? (word === 'daily' ? 'day' : 'year');
}

function dayPart(word: string): DayPart {
  return (['morning', 'afternoon', 'evening', 'night'] as const).find((part) => part === word) ?? 'night';
}

function partOf(word: string, daily: boolean): Meaning {
  return { kind: 'part', part: dayPart(word), daily };
}
