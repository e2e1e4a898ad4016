/** The words of one run of a demo routine. */
export interface Written {
  /** Addresses of the pages that it reads, all at once. */
  readonly reads: readonly string[];
  readonly outcome: 'done' | 'nothing_to_report' | 'could_not';
  /** One or two sentences on what came of it. */
  readonly summary: string;
  /** The result where it is a text. */
  readonly text: string | null;
  /** The result where the routine asks for data. */
  readonly data?: object;
}

/** The time of a run, as far as it shows in its words. */
export interface Moment {
  readonly at: Date;
  /** Runs of the schedule between this one and the latest past one, for which it is 0, as for all that come later. */
  readonly age: number;
}

/** A routine of the demo: what a person would enter, and how the fixture model answers. */
export interface DemoRoutine {
  /** The first words of its instructions, by which the fixture model knows it. */
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
  /** Its model where there is the fixture only. */
  readonly fixtureModel: string;
  /** The latest times of its schedule that have a run, beside the proof before them. */
  readonly pastRuns: number;
  /** The latest of them that are still unread. */
  readonly unread: number;
  readonly write: (moment: Moment) => Written;
}

/** Name of the tool that all of them read pages with. */
export const READ_PAGE = 'read_page';

const DAY_MS = 86_400_000;

/** Counts days, for words that differ from day to day and are the same on each start. */
export function dayNumber(at: Date): number {
  return Math.floor(at.getTime() / DAY_MS);
}

/** Returns a later day, or with a negative number an earlier one. */
export function daysLater(at: Date, days: number): Date {
  return new Date(at.getTime() + days * DAY_MS);
}

const format = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', day: 'numeric', month: 'long' });

/** Writes a day for people: "3 November". */
export function dayInWords(at: Date): string {
  return format.format(at);
}
