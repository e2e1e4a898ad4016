/** A time of day as written. `isCertain` is true if the time cannot mean the other half of the day. */
export interface ClockTime {
  readonly hour: number;
  readonly minute: number;
  readonly isCertain: boolean;
}

const NUMBERS = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ');
const ORDINALS = 'zeroth first second third fourth fifth sixth seventh eighth ninth tenth'.split(' ');
const TENS: Readonly<Record<string, number>> = { fifteen: 15, twenty: 20, thirty: 30, 'forty-five': 45, sixty: 60 };
const NTHS: Readonly<Record<string, number>> = { fifteenth: 15, twentieth: 20 };
const WEEKDAYS = ['su', 'mo', 'tu', 'we', 'th', 'fr', 'sa'];
const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');

/** Parts of the patterns of `phrase-patterns.ts`, by their names in braces. */
const FRAGMENTS: Readonly<Record<string, string>> = {
  num: `(?:\\d{1,4}|${[...NUMBERS, ...Object.keys(TENS)].join('|')})`,
  nth: `(?:\\d{1,2}(?:st|nd|rd|th)|${[...ORDINALS.slice(1), ...Object.keys(NTHS)].join('|')}|last)`,
  weekday:
    '(?:mon(?:days?)?|tue(?:s(?:days?)?)?|wed(?:s|nesdays?)?|thu(?:r|rs|rsdays?)?|fri(?:days?)?|sat(?:urdays?)?|sun(?:days?)?)',
  plural: '(?:mon|tues|wednes|thurs|fri|satur|sun)days',
  month:
    '(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)',
  and: '(?:,? and (?:on )?(?:the |every |at )?|, ?(?:the )?|,? ?& ?)',
  every: '(?:every|each)',
  workday: '(?:week-?day|work(?:ing)? ?day|business day)',
  half: '(?: ?(?:am|pm|a\\.m\\.?|p\\.m\\.?))',
  part: '(?:morning|afternoon|evening|night)',
};

/** Expands the parts of a pattern. The pattern matches only at the given place, and ends with a word. */
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
    "(?:{named}|{spoken}{half}?|\\d{1,2}[:.]\\d{2}{half}?|(?:{num})(?:[ -](?:thirty|fifteen|forty-five))?(?:{half}| o'?clock)?)",
  plain:
    "(?:{named}|\\d{1,2}:\\d{2}{half}?|\\d{1,2}(?:[.]\\d{2})?{half}|{num} o'?clock|(?:half|quarter) (?:past|to) {num}{half}?)",
  named: '(?:noon|midday|midnight)',
  spoken: '(?:(?:half|quarter|five|ten|twenty|\\d{1,2})(?: minutes)? (?:past|to) {num})',
};

export function numberOf(word: string): number {
  const known = NUMBERS.indexOf(word);
  return known >= 0 ? known : (TENS[word] ?? Number(word));
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
  return [...new Set([...days, ...weekend])].toSorted((a, b) => a - b);
}

export function monthsIn(text: string): number[] {
  const words = [...text.matchAll(new RegExp(`${FRAGMENTS['month']}(?![a-z])`, 'g'))];
  return words.map(([word]) => MONTHS.indexOf(word.slice(0, 3)) + 1).toSorted((a, b) => a - b);
}

/** Reads a time of day; undefined for an impossible time. */
export function clockTime(text: string): ClockTime | undefined {
  if (/^(?:noon|midday)/.test(text)) return { hour: 12, minute: 0, isCertain: true };
  if (text.startsWith('midnight')) return { hour: 0, minute: 0, isCertain: true };
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
    const hour = numberOf(of.replace(/[ap]m$/, ''));
    const isBefore = side === 'to';
    return { hour: isBefore ? (hour + 23) % 24 : hour, minute: isBefore ? 60 - count : count, isPadded: false };
  }
  const figures = /^(\d{1,2})[:.]?(\d{2})?(?!\d)/.exec(text);
  if (figures !== null) {
    const [, hour = '', minute = '0'] = figures;
    return { hour: Number(hour), minute: Number(minute), isPadded: hour.startsWith('0') };
  }
  const [, hour = '', minute] = /^([a-z]+)(?:[ -](thirty|fifteen|forty-five))?/.exec(text) ?? [];
  return { hour: numberOf(hour), minute: minute === undefined ? 0 : numberOf(minute), isPadded: false };
}
