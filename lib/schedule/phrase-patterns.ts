import { clockTime, dateOf, monthsIn, numberOf, sticky, weekdaysIn, type ClockTime } from './phrase-values.ts';

export type DayPart = 'morning' | 'afternoon' | 'evening' | 'night';
type Period = 'day' | 'week' | 'month' | 'quarter' | 'year';

/**
 * Meaning of words about a schedule. Words with `once` may also mean a single day, and words with `isWeak` may mean
 * something else. Both count only in a sentence without another rhythm.
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

const ONCE = 'names a single time, and a routine runs again and again';
const UNSAID_DAY = 'is counted from a day that it does not name: choose days of each week or month';
const BESIDE = 'names a zone, a first or a last day, which are set beside the schedule';
const NO_TIME = 'is no exact time of day';

/** Words with two meanings, or that no schedule can express. They are found before their parts are read. */
const REFUSALS: readonly (readonly [string, string])[] = [
  [
    '(?:except|but|excluding|unless)(?: not)?(?: on| it is)?(?: a)?(?: public| bank| school)* holidays?',
    'leaves out holidays: give their dates as days off',
  ],
  [
    '(?:starting|beginning|effective|as of|from)(?: on| from)? (?:next \\w+|tomorrow|today|now on|{month}(?! to| through| until))',
    BESIDE,
  ],
  ['(?:until|till) (?:the end|next|{month})', BESIDE],
  [
    '(?:at )?{clock}(?: in the \\w+)? (?:utc|gmt|ce?s?t|[ecmp][ds]?t|bst|ist|jst|(?!in|on|the|every|each|of|first)[a-z]+ time)',
    BESIDE,
  ],
  ['(?:on )?(?:the |{every} )?(?:{nth} )(?:{workday})', 'counts working days, which a schedule cannot'],
  ['(?:on )?(?:the |{every} )?{nth}{and}{nth} {weekday}', 'names two weeks of the month, and a schedule can say one'],
  ['(?:on )?(?:the |{every} )?(?:fifth|5th) {weekday}', 'names a fifth week, which few months have'],
  ['(?:bi|semi)-?(?:weekly|monthly)|fortnightly|{every} fortnight', UNSAID_DAY],
  ['{every} (?:other|alternate) (?!hours?\\b)\\w+|{every} (?:second|2nd) {weekday}(?! (?:of|in) )', UNSAID_DAY],
  ['(?:once )?{every} (?!one |1 ){num} (?:day|week|month|quarter|year)s?', UNSAID_DAY],
  [
    '{every} (?:few|couple of|several) \\w+|(?:a few|several|many) times (?:a|per|each) \\w+|{every} so often|{every} now and (?:then|again)',
    'does not say how often',
  ],
  ['(?:during |in |within )?(?:business|working|office|opening) hours', 'does not say from when to when'],
  [
    '(?:at )?(?:around|about|roughly|by|before|after|no later than) {plain}|at (?:around|about|roughly) {clock}',
    NO_TIME,
  ],
  ['{every} (?:{num} )?seconds?', 'is shorter than a minute'],
  ['on \\d{1,2}[./]\\d{1,2}(?:[./]\\d{2,4})?', 'could be read with the day or with the month first'],
  ['{every} weekend', 'may mean once or on both days'],
  ['(?:once|twice|{num} times) an hour', 'does not say at which minutes'],
];

/** Words without a rhythm, with the reason to give if the sentence has no other words about a rhythm. */
const NO_RHYTHM: readonly (readonly [string, string])[] = [
  ['\\d{4}-\\d{2}-\\d{2}|\\d{1,2}/\\d{1,2}/\\d{2,4}', ONCE],
  [
    'tomorrow|tonight|today|next (?:{weekday}|week|month)|this (?:{part}|{weekday})|in {num} (?:minute|hour|day|week)s?',
    ONCE,
  ],
  ['right now|just once|only once|soon|as soon as possible', ONCE],
  ['(?:last|past|previous|since|following) (?:{weekday}|week|month|day|night|quarter|year)(?! of| {every})', ONCE],
  [
    '(?:at |by |on )?(?:the )?(?:end|start|beginning|middle) of (?:the |{every} )?(?:day|week|month|quarter|year)',
    NO_TIME,
  ],
  [
    'mid-?(?:week|month)|end of business|close of business|first thing|before work|after (?:work|lunch)|over lunch',
    NO_TIME,
  ],
  [
    'regularly|often|sometimes|occasionally|frequently|periodically|from time to time|now and then|whenever',
    'does not say when',
  ],
];

/** Patterns that are tried at each word of a sentence in lower case; the first match counts. */
export const PATTERNS: readonly Pattern[] = [
  ...REFUSALS.map(([source, why]): Pattern => [sticky(source), () => refused(why)]),
  [
    sticky(
      '(?:except|but|excluding|apart from|other than)(?: not)?(?: for)?(?: on)?(?: the)? (?<days>(?:{weekday}|weekends?)(?:{and}{weekday})*)',
    ),
    ({ days = '' }) => ({ kind: 'except', days: weekdaysIn(days) }),
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
      '(?<all>{every} |on the |on )(?<dates>{nth}(?:{and}{nth})*)(?: day)?(?! (?:hour|minute|week|time|quarter|month|year))',
    ),
    ({ all = '', dates = '' }) => datesOf(dates, undefined, all.startsWith('on')),
  ],
  [
    sticky('(?<how>in |{every} )(?<months>{month}(?:{and}{month})*)'),
    ({ how, months = '' }) => ({ kind: 'months', months: monthsIn(months).join(','), once: how === 'in ' }),
  ],
  [
    sticky(
      '(?:(?:from|between|on|{every}) )*(?<from>{weekday})(?: ?- ?| to | through | thru | until )(?<to>{weekday})',
    ),
    ({ from = '', to = '' }) => ({ kind: 'weekdays', days: daysBetween(from, to).join(',') }),
  ],
  [
    sticky('(?:on |{every} )?{workday}s|{every} {workday}(?= (?!{part}))|{every} {workday}'),
    () => ({ kind: 'weekdays', days: '1-5' }),
  ],
  [sticky('(?:on |at )?(?:the )?weekends'), () => ({ kind: 'weekdays', days: '0,6' })],
  [
    sticky('{every} (?<days>{weekday}(?:{and}{weekday})*)|(?:on )?(?<plurals>{plural}(?:{and}{plural})*)'),
    ({ days, plurals }) => ({ kind: 'weekdays', days: weekdaysIn(days ?? plurals ?? '').join(',') }),
  ],
  [
    sticky('(?:on )?(?<day>{weekday})(?= {part}s)'),
    ({ day = '' }) => ({ kind: 'weekdays', days: weekdaysIn(day).join(',') }),
  ],
  [
    sticky(
      '(?:on )?(?<days>{weekday}(?:{and}{weekday})+)|on (?<day>{weekday})|(?:mon|tues|wednes|thurs|fri|satur|sun)day',
    ),
    (_, whole) => ({ kind: 'weekdays', days: weekdaysIn(whole).join(','), once: true }),
  ],
  [sticky('{every} (?:other|second|2nd) hour'), () => ({ kind: 'interval', minutes: 120 })],
  [sticky('{every} half(?:[ -]an)?[ -]hour|half-?hourly'), () => ({ kind: 'interval', minutes: 30 })],
  [sticky('{every} quarter(?: of an)? hour'), () => ({ kind: 'interval', minutes: 15 })],
  [
    sticky('(?:once )?(?:{every}|once an|once per)(?: (?<count>{num}))? ?(?<unit>hour|minute|min)s?(?! past)'),
    ({ count = '1', unit }) => ({ kind: 'interval', minutes: numberOf(count) * (unit === 'hour' ? 60 : 1) }),
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
      '(?:at )?:(?<digits>\\d{2})|on the hour|(?:at )?(?<past>\\d{1,2}|half|quarter|five|ten|fifteen|twenty)(?: minutes?)? past(?: the hour)?(?! {num})',
    ),
    ({ digits, past }) => ({ kind: 'minute', minute: minuteOf(digits ?? past) }),
  ],
  [
    sticky(
      '(?:from|between) (?<from>{clock})(?: ?- ?| to | until | till | and )(?<to>{clock})|(?<first>{plain}) ?(?:-|to|until) ?(?<last>{plain})',
    ),
    ({ from, to, first, last }) => {
      const [start, end] = [clockTime(from ?? first ?? ''), clockTime(to ?? last ?? '')];
      if (start === undefined || end === undefined) return refused(NO_SUCH_TIME);
      return { kind: 'window', from: start, to: end };
    },
  ],
  [
    sticky('(?:at|@) ?(?<list>{clock}(?:{and}{clock})*)(?: (?:in the |at )(?<part>{part}))?(?: sharp| hours)?'),
    ({ list = '', part }) => timesIn(list, part),
  ],
  [
    sticky('(?<list>{plain}(?:{and}{plain})*)(?: (?:in the |at )(?<part>{part}))?(?: sharp)?'),
    ({ list = '', part }) => timesIn(list, part),
  ],
  [sticky('(?<list>\\d{1,2}) in the (?<part>{part})'), ({ list = '', part }) => timesIn(list, part)],
  [sticky('(?:in the |on |at )?(?<part>{part})s?'), ({ part = '' }) => partOf(part, false)],
];

function refused(why: string, isWeak = false): Meaning {
  return { kind: 'refused', why, isWeak };
}

const NO_SUCH_TIME = 'is no time of day';

function timesIn(list: string, part: string | undefined): Meaning {
  const written = [...list.matchAll(new RegExp(sticky('{clock}').source, 'g'))].map(([each]) => each);
  const half = /[ap]\.?m\.?$/.exec(written.at(-1) ?? '')?.[0] ?? '';
  // In "at 9 and 11 am", both times are in the morning.
  const whole = written.map((each) => (/[ap]\.?m|noon|midday|midnight|[:.]/.test(each) ? each : `${each}${half}`));
  const times = whole.map(clockTime);
  const known = times.filter((time) => time !== undefined);
  if (known.length < times.length) return refused(NO_SUCH_TIME);
  const isMidnight = written.includes('midnight');
  return { kind: 'times', times: known, isMidnight, ...(part === undefined ? {} : { part: dayPart(part) }) };
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
  const [first = 0, last = 0] = [weekdaysIn(from)[0], weekdaysIn(to)[0]];
  const count = ((last - first + 7) % 7) + 1;
  return Array.from({ length: count }, (_, at) => (first + at) % 7).toSorted((a, b) => a - b);
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
