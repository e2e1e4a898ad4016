import * as fc from 'fast-check';
import { nextOccurrence, occurrencesBetween, parseStoredSchedule } from '#lib/schedule/index.ts';
import type { ClockChange } from './clock-changes.ts';
import { knownSchedules } from './known-schedules.ts';
import { type KnownSchedule, MINUTE, occurringMinutes, readWallClock } from './minute-oracle.ts';

const HOUR = 60;
/** Time that is checked before and after a change: more than a day and the longest change of a clock. */
const REACH = 27 * HOUR;

/** A schedule at a clock change, with all its occurrences nearby according to the oracle. */
export interface Case {
  readonly timeZone: string;
  readonly schedule: KnownSchedule;
  readonly from: number;
  readonly until: number;
  /** Every occurrence from `from` to `until`, UTC minutes. */
  readonly expected: readonly number[];
  /** The first occurrence of the window, which begins before `from`. */
  readonly first: number | undefined;
  /** Instants after which the test asks for the next occurrence. */
  readonly seeds: readonly Date[];
}

/** Makes `count` schedules around a clock change, the same ones for the same seed. */
export function casesAt({ timeZone, minute, expected }: ClockChange, count: number, seed: number): Case[] {
  const clock = readWallClock(timeZone, minute - 2 * REACH, 3 * REACH);
  const from = minute - REACH;
  const until = clock.start + clock.readings.length - 1;
  const seconds = fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: -5 * 3600, max: 5 * 3600 }) },
    // The change itself, the hours around it, and a second before and after each.
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.integer({ min: -4, max: 4 }), fc.integer({ min: -1, max: 1 }))
        .map(([halves, second]) => halves * 1800 + second),
    },
  );
  return fc.sample(knownSchedules(expected), { numRuns: count, seed }).map((schedule, index) => {
    const occurring = occurringMinutes(schedule, clock);
    return {
      timeZone,
      schedule,
      from,
      until,
      expected: occurring.filter((minute) => minute >= from),
      first: occurring[0],
      seeds: fc
        .sample(seconds, { numRuns: 8, seed: seed + index })
        .map((offset) => new Date(minute * MINUTE + offset * 1000)),
    };
  });
}

export type Next = (expression: string, timeZone: string, after: Date) => Date;

/** Returns the seeds for which `next` and the oracle disagree, one line each. */
export function wrongAnswers(next: Next, { schedule, timeZone, expected, until, seeds }: Case): string[] {
  return seeds.flatMap((after) => {
    const right = expected.find((minute) => minute * MINUTE > after.getTime());
    const answer = attempt(() => next(schedule.expression, timeZone, after));
    const isRight =
      answer instanceof Date &&
      (right === undefined ? answer.getTime() > until * MINUTE : answer.getTime() === right * MINUTE);
    if (isRight) return [];
    const wanted = right === undefined ? `later than ${iso(until)}` : iso(right);
    const got = answer instanceof Date ? answer.toISOString() : answer;
    return [`${schedule.expression} in ${timeZone} after ${after.toISOString()}: ${got}, not ${wanted}`];
  });
}

/** Compares the whole series of occurrences, their count, and the first occurrence from months before. */
export function wrongSequence({ schedule, timeZone, from, until, expected, first }: Case): string[] {
  const parsed = parseStoredSchedule(schedule.expression);
  const wrong: string[] = [];
  const label = `${schedule.expression} in ${timeZone} from ${iso(from)}`;
  const chain: number[] = [];
  const before = new Date(from * MINUTE - 1);
  for (
    let at = nextOccurrence(parsed, timeZone, before);
    at.getTime() <= until * MINUTE;
    at = nextOccurrence(parsed, timeZone, at)
  ) {
    chain.push(at.getTime() / MINUTE);
  }
  if (chain.join() !== expected.join()) {
    const odd = [...chain, ...expected].filter((minute) => !(chain.includes(minute) && expected.includes(minute)));
    wrong.push(`${label}: chain differs at ${odd.slice(0, 5).map(iso).join(' ')}`);
  }
  const between = occurrencesBetween(parsed, timeZone, before, new Date(until * MINUTE), 1000);
  if (
    between.count !== Math.min(expected.length, 1000) ||
    between.truncated !== expected.length > 1000 ||
    between.first?.getTime() !== at(expected[0]) ||
    between.last?.getTime() !== at(expected.at(-1))
  ) {
    wrong.push(`${label}: counted ${JSON.stringify(between)}, not ${expected.length}`);
  }
  const isYearly = /^\S+ \S+ \d+ (\d+|[a-z]+) \*$/i.test(schedule.expression);
  if (isYearly && first !== undefined) {
    const monthsBefore = new Date((from - 250 * 24 * HOUR) * MINUTE);
    const next = nextOccurrence(parsed, timeZone, monthsBefore);
    if (next.getTime() !== at(first)) wrong.push(`${label}: from afar ${next.toISOString()}`);
  }
  return wrong;
}

function at(minute: number | undefined): number | undefined {
  return minute === undefined ? undefined : minute * MINUTE;
}

function iso(minute: number): string {
  return new Date(minute * MINUTE).toISOString();
}

function attempt(ask: () => Date): Date | string {
  try {
    return ask();
  } catch (error) {
    return String(error);
  }
}
