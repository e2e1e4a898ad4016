/**
 * The rule for schedules, computed slowly: reads the wall clock from Intl at every UTC minute of a window, and says for
 * each minute whether the schedule occurs. Shares only Intl with the implementation.
 */

/** A schedule as the fields that it matches, with its text. */
export interface KnownSchedule {
  readonly expression: string;
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly isDue: (date: Date) => boolean;
  readonly everyHour: boolean;
  readonly bothPasses: boolean;
}

/** The wall clock of a zone at each UTC minute from `start` on. */
export interface WallClock {
  readonly start: number;
  /** Readings of the clock, as minutes since 1970-01-01T00:00. */
  readonly readings: Int32Array;
  /** 1 for a reading that the clock has shown before. */
  readonly repeats: Uint8Array;
  /** The dates that the clock shows, as days since 1970-01-01. */
  readonly dates: ReadonlySet<number>;
}

export const MINUTE = 60_000;
const DAY_MINUTES = 1440;

export function wallClockReader(timeZone: string): (minute: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  return (minute) => {
    const text = format.format(minute * MINUTE); // 03/08/2026, 01:59
    const part = (from: number, to: number): number => Number(text.slice(from, to));
    return Date.UTC(part(6, 10), part(0, 2) - 1, part(3, 5), part(12, 14), part(15, 17)) / MINUTE;
  };
}

export function readWallClock(timeZone: string, start: number, length: number): WallClock {
  const read = wallClockReader(timeZone);
  const readings = Int32Array.from({ length }, (_, index) => read(start + index));
  const shown = new Set<number>();
  const repeats = new Uint8Array(length);
  for (const [index, reading] of readings.entries()) {
    repeats[index] = shown.has(reading) ? 1 : 0;
    shown.add(reading);
  }
  return { start, readings, repeats, dates: new Set(Array.from(readings, dateOf)) };
}

/** Returns the UTC minutes of the window at which the schedule occurs. */
export function occurringMinutes(schedule: KnownSchedule, clock: WallClock): number[] {
  const { start, readings, repeats, dates } = clock;
  const matches = matcher(schedule);
  const minutes: number[] = [];
  for (const [index, reading] of readings.entries()) {
    let occurs = matches(reading) && (schedule.bothPasses || repeats[index] === 0);
    const previous = readings[index - 1] ?? reading;
    for (let skipped = previous + 1; skipped < reading; skipped++) {
      const isPassedOver = schedule.everyHour && dates.has(dateOf(skipped));
      if (matches(skipped) && !isPassedOver) occurs = true;
    }
    if (occurs) minutes.push(start + index);
  }
  return minutes;
}

function dateOf(reading: number): number {
  return Math.floor(reading / DAY_MINUTES);
}

function matcher(schedule: KnownSchedule): (reading: number) => boolean {
  const days = new Map<number, boolean>();
  return (reading) => {
    const day = dateOf(reading);
    let isDue = days.get(day);
    if (isDue === undefined) {
      isDue = schedule.isDue(new Date(day * DAY_MINUTES * MINUTE));
      days.set(day, isDue);
    }
    const minuteOfDay = reading - day * DAY_MINUTES;
    return isDue && schedule.minutes.has(minuteOfDay % 60) && schedule.hours.has(Math.floor(minuteOfDay / 60));
  };
}
