/** A time of day as written. `isCertain` is true if the time cannot mean the other half of the day. */
export interface ClockTime {
  readonly hour: number;
  readonly minute: number;
  readonly isCertain: boolean;
}

export type DayPart = 'morning' | 'afternoon' | 'evening' | 'night';

export const WHICH_HALF = 'may mean either half of the day: say am or pm';

const NUMBERS = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ');
const ORDINALS = 'zeroth first second third fourth fifth sixth seventh eighth ninth tenth'.split(' ');
const TENS: Readonly<Record<string, number>> = { fifteen: 15, twenty: 20, thirty: 30, forty: 40, fifty: 50, sixty: 60 };
const NAMED: Readonly<Record<string, number>> = { noon: 12, midday: 12, midnight: 0 };
const NTHS: Readonly<Record<string, number>> = { fifteenth: 15, twentieth: 20 };
const WEEKDAYS = ['su', 'mo', 'tu', 'we', 'th', 'fr', 'sa'];
const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');

/** Parts of the patterns of `phrase-patterns.ts`, by their names in braces. */
const FRAGMENTS: Readonly<Record<string, string>> = {
  num: '(?:\\d{1,4}|{word}|{minutes}|sixty)',
  word: `(?:${NUMBERS.join('|')})`,
  minutes: '(?:ten|fifteen|(?:twenty|thirty|forty|fifty)(?:[ -]five)?)',
  nth: `(?:\\d{1,2}(?:st|nd|rd|th)|${[...ORDINALS.slice(1), ...Object.keys(NTHS)].join('|')}|last)`,
  weekday: '(?:(?:mon|tues?|weds?|thu(?:rs?)?|fri|sat|sun)\\.?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)',
  days: '{weekday}(?:(?:{and}|/){weekday})*',
  plural: '(?:mon|tues|wednes|thurs|fri|satur|sun)days',
  month:
    '(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)',
  and: '(?:,? and (?:on )?(?:the |every |at )?|, ?(?:the )?|,? ?[&+] ?)',
  to: '(?: ?- ?| to | through | thru | until )',
  every: '(?:each and every|every single|every|each)',
  workday: '(?:week[- ]?day|work(?:ing)? ?day|business day)',
  half: '(?: ?(?:am|pm|a\\.m\\.?|p\\.m\\.?))',
  part: '(?:morning|afternoon|evening|night)',
};

/** Replaces each `{name}` in a pattern. The result matches only at `lastIndex` and never ends within a word. */
export function sticky(source: string): RegExp {
  let written = source;
  while (/\{[a-z]+\}/.test(written)) {
    written = written.replaceAll(/\{([a-z]+)\}/g, (_, name: string) => FRAGMENTS[name] ?? CLOCKS[name] ?? '');
  }
  return new RegExp(`(?:${written})(?![\\w'/])`, 'y');
}

/** Times of day: `clock` after "at", `plain` elsewhere. */
const CLOCKS: Readonly<Record<string, string>> = {
  clock:
    "(?:{named}|{spoken}{half}?|\\d{1,2}(?:[:.]\\d{2}{half}?|h(?:\\d{2})?)|(?:{word}[ -]{minutes}|{num})(?:{half}| o'?clock)?)",
  plain:
    "(?:{named}|\\d{1,2}:\\d{2}{half}?|\\d{1,2}(?:[.]\\d{2})?{half}|{num} o'?clock|(?:half|quarter) (?:past|to) (?:{num}|{named}){half}?)",
  named: '(?:(?:12 )?(?:noon|midday|midnight))',
  spoken: '(?:(?:half|quarter|five|ten|twenty|\\d{1,2})(?: minutes)? (?:past|to) (?:{num}|{named}))',
  // More figures after a time belong to it, so the time does not end before them: "9:305", "9-10", "9 30".
  end: '(?![:.]?\\d| ?-\\d| \\d\\d\\b| oh | times)',
};

export function numberOf(word: string): number {
  const [first = '', ...rest] = word.split(/[ -]/);
  const known = NUMBERS.indexOf(first);
  const number = known >= 0 ? known : (TENS[first] ?? Number(first));
  return rest.length === 0 ? number : number + numberOf(rest.join('-'));
}

/** Reads a day of the month; returns `L` for the last day. */
export function dateOf(word: string): string {
  if (word === 'last') return 'L';
  const known = ORDINALS.indexOf(word);
  return String(known > 0 ? known : (NTHS[word] ?? Number.parseInt(word, 10)));
}

/** Finds all weekdays of a text, Sunday as 0, each once and in order. */
export function weekdaysIn(text: string): number[] {
  const words = [...text.matchAll(new RegExp(`${FRAGMENTS['weekday']}(?![a-z])`, 'g'))];
  const days = words.map(([word]) => WEEKDAYS.indexOf(word.slice(0, 2)));
  const weekend = /weekend/.test(text) ? [0, 6] : [];
  return sorted([...days, ...weekend]);
}

export function monthsIn(text: string): number[] {
  const words = [...text.matchAll(new RegExp(`${FRAGMENTS['month']}(?![a-z])`, 'g'))];
  return words.map(([word]) => MONTHS.indexOf(word.slice(0, 3)) + 1).toSorted((a, b) => a - b);
}

/** Lists a range that may pass the end of its circle: from Friday to Monday, from November to February. */
export function rangeOf([first = 0, last = 0]: readonly number[], size: number, least: number): number[] {
  const count = ((last - first + size) % size) + 1;
  return Array.from({ length: count }, (_, at) => ((first - least + at) % size) + least).toSorted((a, b) => a - b);
}

/** Reads a time of day; undefined for an impossible time. */
export function clockTime(text: string): ClockTime | undefined {
  const named = NAMED[text.replace('12 ', '')];
  if (named !== undefined) return { hour: named, minute: 0, isCertain: true };
  const afternoon = /p\.?m/.test(text);
  const half = afternoon || /a\.?m/.test(text);
  const { hour, minute, isPadded } = written(text);
  if (!(minute < 60) || !(hour < 24) || (half && (hour === 0 || hour > 12))) return undefined;
  if (half) return { hour: (hour % 12) + (afternoon ? 12 : 0), minute, isCertain: true };
  return { hour, minute, isCertain: hour > 12 || isPadded };
}

/** Returns the hour and minute as written, before the half of the day is known. */
function written(text: string): { hour: number; minute: number; isPadded: boolean } {
  const spoken = /^(\S+)(?: minutes)? (past|to) ([a-z0-9]+)/.exec(text);
  if (spoken !== null) {
    const [, minutes = '', side, of = ''] = spoken;
    const count = minutes === 'half' ? 30 : minutes === 'quarter' ? 15 : numberOf(minutes);
    const named = NAMED[of];
    const hour = named ?? numberOf(of.replace(/[ap]m$/, ''));
    const isBefore = side === 'to';
    const isPadded = named !== undefined;
    return { hour: isBefore ? (hour + 23) % 24 : hour, minute: isBefore ? 60 - count : count, isPadded };
  }
  const figures = /^(\d{1,2})([:.h]?)(\d{2})?(?!\d)/.exec(text);
  if (figures !== null) {
    const [, hour = '', sign, minute = '0'] = figures;
    return { hour: Number(hour), minute: Number(minute), isPadded: hour.startsWith('0') || sign === 'h' };
  }
  const [, hour = '', minute] = /^([a-z]+)(?:[ -]((?:ten|fif|twe|thi|for)[a-z]*(?:[ -]five)?))?/.exec(text) ?? [];
  return { hour: numberOf(hour), minute: minute === undefined ? 0 : numberOf(minute), isPadded: false };
}

/** A reason why words about a schedule are refused. */
export class Refusal {
  readonly why: string;

  constructor(why: string) {
    this.why = why;
  }
}

export interface Clock {
  readonly hour: number;
  readonly minute: number;
}

const PARTS: Readonly<Record<DayPart, readonly [number, number]>> = {
  morning: [1, 11],
  afternoon: [12, 18],
  evening: [16, 23],
  night: [18, 29],
};

/**
 * Reads an hour in a part of the day.
 * @param isDaily false if the night of a single day is meant, which ends on the next day
 */
export function onTheClock(
  { hour, minute, isCertain }: ClockTime,
  part: DayPart | undefined,
  isDaily: boolean,
): Clock | Refusal {
  if (part === undefined) {
    if (isCertain || (hour >= 6 && hour <= 11) || hour === 0) return { hour, minute };
    return new Refusal(WHICH_HALF);
  }
  const [first, last] = PARTS[part];
  const readings = [hour, hour + 12, hour + 24].filter((each) => !isCertain || each % 24 === hour);
  const [only, another] = readings.filter((each) => each >= first && each <= last);
  if (only === undefined) return new Refusal(`names an hour that is none of the ${part}`);
  if (only >= 24 && !isDaily) return new Refusal('does not say whether it is the night before or after that day');
  return another === undefined ? { hour: only % 24, minute } : new Refusal(WHICH_HALF);
}

export function sorted(values: readonly number[]): number[] {
  return [...new Set(values)].toSorted((a, b) => a - b);
}
