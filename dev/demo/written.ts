/** The words of one run of a demo routine. */
export interface Written {
  /** Addresses of the pages that the run reads, all in parallel. */
  readonly reads: readonly string[];
  readonly outcome: 'done' | 'nothing_to_report' | 'could_not';
  /** One or two sentences about the result. */
  readonly summary: string;
  /** The result of a routine without data; else null. */
  readonly text: string | null;
  /** The result of a routine with a schema for data. */
  readonly data?: object;
}

/** Time of a run. The text of its result depends on it. */
export interface Moment {
  readonly at: Date;
  /** Scheduled runs between this one and the latest past run; 0 for that run and all later ones. */
  readonly age: number;
}

/** A routine of the demo: the fields that a person would enter, and the answers of the fixture model. */
export interface DemoRoutine {
  /** The first words of the routine's instructions, by which the fixture model recognizes the routine. */
  readonly opening: string;
  readonly body: {
    readonly name: string;
    readonly instructions: string;
    readonly variables: Readonly<Record<string, string>>;
    readonly schedule: string;
    readonly timezone: string;
    readonly skills: readonly string[];
    readonly outcome: 'required';
    readonly resultSchema?: object;
    readonly resultKey?: { readonly list: string; readonly key: string };
  };
  /** The routine's model if there is only the fixture. */
  readonly fixtureModel: string;
  /** Number of past times of its schedule with a run, in addition to the proof. */
  readonly pastRuns: number;
  /** Number of the latest runs that stay unread. */
  readonly unread: number;
  readonly write: (moment: Moment) => Written;
}

/** Name of the tool that all demo routines read pages with. */
export const READ_PAGE = 'read_page';

const DAY_MS = 86_400_000;

/** Numbers the days, for words that differ from day to day and are the same on each start. */
export function dayNumber(at: Date): number {
  return Math.floor(at.getTime() / DAY_MS);
}

/** Returns a later day; an earlier one for a negative number. */
export function daysLater(at: Date, days: number): Date {
  return new Date(at.getTime() + days * DAY_MS);
}

const format = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', day: 'numeric', month: 'long' });

/** Writes a day for people: "3 November". */
export function dayInWords(at: Date): string {
  return format.format(at);
}
