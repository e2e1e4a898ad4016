import { ScheduleError } from './expression.ts';
import { parseSchedule } from './parse-schedule.ts';
import { PATTERNS, type Meaning } from './phrase-patterns.ts';
import { onTheClock, Refusal, sorted, type Clock } from './phrase-values.ts';

/**
 * Result of reading a sentence for its schedule. `phrase` is the part that was read; `why` is the rest of a sentence
 * with `phrase` as its subject.
 */
export type PhraseReading =
  | { readonly kind: 'read'; readonly schedule: string; readonly phrase: string }
  | { readonly kind: 'refused'; readonly why: string; readonly phrase: string }
  | { readonly kind: 'none' };

/**
 * Reads the words of an English sentence about the times to run, as five cron fields: "weekdays at 7", "hourly between
 * 9 and 17". Refuses words with two meanings, two schedules, and rhythms that cron cannot express. An hour from 6 to 11
 * without am or pm is in the morning.
 */
export function readSchedulePhrase(sentence: string): PhraseReading {
  const text = sentence.replaceAll(/\s+/g, ' ').trim();
  // A day alone, as in "what was posted on Monday", is not a schedule.
  const clusters = clustersOf(text).filter(([first, ...rest]) => first?.once !== true || rest.length > 0);
  const isStrong = (found: Found) => !found.once && !found.isWeak;
  const refusal = clusters.flat().find((found) => found.kind === 'refused' && isStrong(found));
  if (refusal?.kind === 'refused') return { kind: 'refused', why: refusal.why, phrase: phraseOf(text, [refusal]) };
  const rhythms = clusters.filter((cluster) => cluster.some(isRhythm));
  const strong = rhythms.filter((cluster) => cluster.some((found) => isRhythm(found) && isStrong(found)));
  const timed = clusters.filter((cluster) => cluster.some(({ kind }) => kind === 'times' || kind === 'window'));
  const [main, ...others] = strong.length > 0 ? strong : rhythms;
  if (main === undefined) return withoutRhythm(text, clusters.flat());
  const elsewhere = timed.filter((cluster) => cluster !== main);
  // "Every Monday, send me the list at 9": the time is separate from the days.
  const isApart = !timed.includes(main) && elsewhere.length === 1 && !rhythms.includes(elsewhere[0] ?? []);
  const whole = isApart ? [...main, ...(elsewhere[0] ?? [])].toSorted((a, b) => a.start - b.start) : main;
  const phrase = phraseOf(text, whole);
  const isTwo = others.length > 0 || (elsewhere.length > 0 && !isApart);
  const limit = whole.find((found) => found.kind === 'refused' && found.once);
  if (limit?.kind === 'refused') return { kind: 'refused', why: limit.why, phrase };
  const schedule = isTwo ? new Refusal(TWO) : compose(whole);
  if (schedule instanceof Refusal) return { kind: 'refused', why: schedule.why, phrase };
  return isKnown(schedule) ? { kind: 'read', schedule, phrase } : { kind: 'refused', why: 'never falls due', phrase };
}

type Found = Meaning & { readonly start: number; readonly end: number };

/** Words that may occur between two parts of one schedule. */
const BETWEEN = /^[\s,;:()&+]*(?:(?:and|on|at|in|of|the|each|then|also|again|only|plus|as well as)[\s,]+)*$/;

/** Finds all words about a schedule, and groups those that belong together. */
function clustersOf(text: string): Found[][] {
  const lower = text
    .replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
    .replaceAll(/[‐-―]/g, '-')
    .replaceAll('’', "'");
  const clusters: Found[][] = [];
  for (const { index } of lower.matchAll(/(?<![\w'./])[\w:@]/g)) {
    const last = clusters.at(-1)?.at(-1);
    if (last !== undefined && index < last.end) continue;
    const found = foundAt(lower, index);
    if (found === undefined) continue;
    const joins = last !== undefined && BETWEEN.test(lower.slice(last.end, index));
    if (joins) clusters.at(-1)?.push(found);
    else clusters.push([found]);
  }
  return clusters;
}

function foundAt(text: string, start: number): Found | undefined {
  for (const [pattern, read] of PATTERNS) {
    pattern.lastIndex = start;
    const match = pattern.exec(text);
    if (match !== null) return { ...read(match.groups ?? {}, match[0]), start, end: start + match[0].length };
  }
  return undefined;
}

function isRhythm(found: Meaning): boolean {
  return ['weekdays', 'dates', 'period', 'interval', 'months'].includes(found.kind) || isDaily(found);
}

function isDaily(found: Meaning): boolean {
  return found.kind === 'part' && found.daily;
}

function phraseOf(text: string, found: readonly Found[]): string {
  return text.slice(found[0]?.start, found.at(-1)?.end);
}

function withoutRhythm(text: string, found: readonly Found[]): PhraseReading {
  const [first] = found;
  if (first === undefined) return { kind: 'none' };
  const why = first.kind === 'refused' ? first.why : 'does not say on which days';
  return { kind: 'refused', why, phrase: phraseOf(text, [first]) };
}

type Of<K extends Meaning['kind']> = Extract<Meaning, { readonly kind: K }>;

function ofKind<K extends Meaning['kind']>(found: readonly Found[], kind: K): (Found & Of<K>)[] {
  return found.filter((each): each is Found & Of<K> => each.kind === kind);
}

const TWO = 'is two schedules, or one that cron cannot say';

/** Puts the parts of one schedule together. */
function compose(found: readonly Found[]): string | Refusal {
  const days = daysOf(found);
  if (days instanceof Refusal) return days;
  const [interval, ...intervals] = ofKind(found, 'interval');
  const [window, ...windows] = ofKind(found, 'window');
  const times = ofKind(found, 'times');
  const parts = ofKind(found, 'part');
  const minutes = sorted(ofKind(found, 'minute').map(({ minute }) => minute));
  if (intervals.length > 0 || windows.length > 0) return new Refusal(TWO);
  if (interval !== undefined) {
    if (times.length > 0 || parts.length > 0) return new Refusal('gives both an interval and a time of day');
    return everySoOften(interval.minutes, { window, minutes, days });
  }
  if (minutes.length > 0) return new Refusal('does not say of which hour');
  if (window !== undefined) return new Refusal('gives a span of the day, and no time or interval in it');
  if (times.some(({ isMidnight }) => isMidnight) && days !== '* * *') {
    return new Refusal('does not say whether midnight begins or ends the day: write 00:00 or 23:59');
  }
  const partless = times.filter((each) => each.part === undefined);
  const isOnePart = new Set(parts.map(({ part }) => part)).size <= 1 && partless.length === times.length;
  if (times.length > 0 && !isOnePart && parts.length !== partless.length) {
    return new Refusal('does not say which time belongs to which part of the day');
  }
  const read = times.flatMap((each) => {
    // "Every morning at 8 and every evening at 6": each time has its own part of the day.
    const part = each.part ?? parts[isOnePart ? 0 : partless.indexOf(each)]?.part;
    return each.times.map((time) => onTheClock(time, part, days === '* * *'));
  });
  const refusal = read.find((time) => time instanceof Refusal);
  if (refusal !== undefined) return refusal;
  const clock = read.filter((time): time is Clock => !(time instanceof Refusal));
  const counted = ofKind(found, 'period').find(({ of, count }) => of === 'day' && count > 0)?.count;
  if (clock.length === 0) return new Refusal('does not say at what time');
  if (clock.length > 1 && isParted(found)) return new Refusal(TWO);
  if (counted !== undefined && counted !== clock.length) return new Refusal('counts other times than they name');
  return atTimes(clock, days);
}

/** Tells whether each day may have times of its own, as in "daily at 7 and on weekends at 9". */
function isParted(found: readonly Found[]): boolean {
  const places = found.map((each) => {
    if (each.kind === 'times') return 't';
    if (each.kind === 'except') return 'e';
    return each.kind === 'weekdays' || each.kind === 'dates' || (each.kind === 'period' && each.count === 0) ? 'd' : '';
  });
  return /dt+d|te.*t/.test(places.join(''));
}

const WHOLE_WEEK = [0, 1, 2, 3, 4, 5, 6];

/** Returns the last three fields of cron. */
function daysOf(found: readonly Found[]): string | Refusal {
  const weekdays = ofKind(found, 'weekdays');
  const dates = ofKind(found, 'dates');
  const [except] = ofKind(found, 'except');
  const months = ofKind(found, 'months')
    .map((each) => each.months)
    .join(',');
  const periods = ofKind(found, 'period');
  const isOf = (name: string) => periods.some(({ of }) => of === name);
  const isDay = isOf('day') || found.some(isDaily);
  if (weekdays.length > 0 && dates.length > 0) return new Refusal(TWO);
  // "Except Fridays and in August"
  if (ofKind(found, 'months').some(({ start }) => start > (except?.start ?? start))) return new Refusal(TWO);
  if (dates.length > 0) return isDay || isOf('week') ? new Refusal(TWO) : onDates(dates, { months, periods });
  const inMonths = months === '' ? '*' : months;
  if (weekdays.length === 0) {
    const isOften = isDay || found.some(({ kind }) => kind === 'interval');
    if (!isOften) return new Refusal('does not say on which day');
    if (except === undefined) return `* ${inMonths} *`;
    return `* ${inMonths} ${ranged(WHOLE_WEEK.filter((day) => !except.days.includes(day)))}`;
  }
  const named = weekdays.map(({ days }) => days);
  const isNth = named.some((each) => /[#L]/.test(each));
  if (isNth ? named.length > 1 || isDay || isOf('week') : isOf('month')) return new Refusal(TWO);
  if (isDay && !['1,2,3,4,5', '0,6'].includes(numbersIn(named).join())) return new Refusal(TWO);
  const isRepeated = isNth ? isOf('month') : isOf('week') || isDay;
  if (weekdays.every(({ once }) => once === true) && !isRepeated) {
    return new Refusal(isNth ? 'does not say of which month' : 'may mean one day only: say every');
  }
  const all = isNth ? named : [ranged(numbersIn(named).filter((day) => except?.days.includes(day) !== true))];
  const counted = periods.find(({ of, count }) => of === 'week' && count > 0)?.count;
  if (counted !== undefined && counted !== numbersIn(named).length)
    return new Refusal('counts other days than they name');
  return `* ${inMonths} ${all.join()}`;
}

interface Around {
  readonly months: string;
  readonly periods: readonly Of<'period'>[];
}

function onDates(dates: readonly (Found & Of<'dates'>)[], { months, periods }: Around): string | Refusal {
  const [first, ...others] = dates;
  if (first === undefined || others.length > 0) return new Refusal(TWO);
  const isOf = (name: string) => periods.some(({ of }) => of === name);
  const counted = periods.find(({ count }) => count > 0);
  const named = [first.dates, ...(counted?.of === 'year' ? [first.months] : [])].map((list) => list.split(',').length);
  if (counted !== undefined && named.reduce((product, each) => product * each) !== counted.count)
    return new Refusal('counts other days than they name');
  if (first.months !== '*') {
    if (first.once === true && !isOf('year')) return new Refusal('may mean one day only: say every year');
    return months === '' ? `${first.dates} ${first.months} *` : new Refusal(TWO);
  }
  if (isOf('quarter')) {
    if (first.dates === '1') return '1 1,4,7,10 *';
    return new Refusal('does not say of which month of the quarter');
  }
  if (first.once === true && !isOf('month') && months === '')
    return new Refusal('may mean one day only: say every month');
  if (isOf('year') && months === '') return new Refusal('does not say of which month');
  return `${first.dates} ${months === '' ? '*' : months} *`;
}

function numbersIn(days: readonly string[]): number[] {
  const each = days
    .join()
    .split(',')
    .flatMap((part) => {
      const [from = 0, to = from] = part.split('-').map(Number);
      return WHOLE_WEEK.filter((day) => day >= from && day <= to);
    });
  return sorted(each);
}

function ranged(numbers: readonly number[]): string {
  const [first = 0, last = 0] = [numbers[0], numbers.at(-1)];
  return numbers.length > 2 && last - first === numbers.length - 1 ? `${first}-${last}` : numbers.join();
}

interface Within {
  readonly window: Of<'window'> | undefined;
  readonly minutes: readonly number[];
  readonly days: string;
}

function everySoOften(every: number, { window, minutes, days }: Within): string | Refusal {
  const isWhole = every < 60 ? every > 0 && 60 % every === 0 : every % 60 === 0 && 1_440 % every === 0 && every < 1_440;
  if (!isWhole) return new Refusal('does not go evenly into an hour or a day');
  const isOnTheHour = minutes.every((minute) => minute === 0);
  if (every < 60 && !isOnTheHour) return new Refusal(TWO);
  const span = window === undefined ? undefined : hoursOf(window, every >= 60 && isOnTheHour);
  if (span instanceof Refusal) return span;
  if (every < 60) return `${every === 1 ? '*' : `*/${every}`} ${span ?? '*'} ${days}`;
  const step = every / 60;
  return `${minutes.join() || 0} ${step === 1 ? (span ?? '*') : `${span ?? '*'}/${step}`} ${days}`;
}

/** Returns the hour field for a span. The last hour is included only if all runs are on the hour. */
function hoursOf({ from, to }: Of<'window'>, isOnTheHour: boolean): string | Refusal {
  const [start, end] = [onTheClock(from, undefined, true), onTheClock(to, undefined, true)];
  if (start instanceof Refusal || end instanceof Refusal) return new Refusal('does not say from when to when exactly');
  if (start.minute !== 0 || end.minute !== 0) return new Refusal('begins or ends a span within an hour');
  const last = isOnTheHour ? end.hour : end.hour - 1;
  return last < start.hour ? new Refusal('ends before it begins') : `${start.hour}-${last}`;
}

function atTimes(times: readonly Clock[], days: string): string | Refusal {
  const [hours, minutes] = [sorted(times.map(({ hour }) => hour)), sorted(times.map(({ minute }) => minute))];
  const said = new Set(times.map(({ hour, minute }) => hour * 60 + minute));
  if (hours.length * minutes.length !== said.size) return new Refusal(TWO);
  return `${minutes.join()} ${hours.join()} ${days}`;
}

function isKnown(schedule: string): boolean {
  try {
    parseSchedule(schedule);
    return true;
  } catch (error) {
    if (error instanceof ScheduleError) return false;
    throw error;
  }
}
