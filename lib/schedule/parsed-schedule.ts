/** A schedule ready to compute occurrences from: immutable data, with sets of small numbers as bit masks. */
export interface ParsedSchedule {
  /** The text it was read from, trimmed. */
  readonly expression: string;
  /** Minutes of the hour, ascending, 0-59. */
  readonly minutes: readonly number[];
  /** Hours of the day, ascending, 0-23. */
  readonly hours: readonly number[];
  readonly days: ScheduledDays;
  /** The hour field admits all 24 hours, however that is written. */
  readonly everyHour: boolean;
  /** True when minute or hour is a wildcard or a step: a local time that occurs twice then fires twice. */
  readonly bothPasses: boolean;
}

/** The month, day-of-month and day-of-week fields, which together choose calendar days. */
export interface ScheduledDays {
  /** Bits 1-12. */
  readonly months: number;
  /** Bits 1-31. */
  readonly daysOfMonth: number;
  /** `L` in the day-of-month field. */
  readonly lastDayOfMonth: boolean;
  /** Bits 0 (Sunday) to 6. */
  readonly weekdays: number;
  /** `5#2`: only the nth (1-5) such weekday of the month; 0 for all of them. */
  readonly nthWeekday: number;
  /** `5L`: bits 0 (Sunday) to 6, only the last such weekday of the month. */
  readonly lastWeekdays: number;
  /** The day-of-month field is not `*`. */
  readonly byDayOfMonth: boolean;
  /** The day-of-week field is not `*`. */
  readonly byWeekday: boolean;
}
