import { nearest } from '../nearest.ts';

/** One thing that is wrong in a file. Lines and columns count from 1. */
export interface Fault {
  /** From the folder of `ras.yaml`, with forward slashes. */
  readonly file: string;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  readonly message: string;
}

/** Some files are not as they have to be, so nothing was done. */
export class FaultyFiles extends Error {
  override readonly name: string = 'FaultyFiles';
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    super(faults.map(faultLine).join('\n'));
    this.faults = faults;
  }
}

/** Returns `routines/weekly.md:4:3: unknown field "shedule"`, as compilers write it and editors find it. */
export function faultLine({ file, line, column, message }: Fault): string {
  const place = [file, line, column].filter((part) => part !== undefined).join(':');
  return `${place}: ${message}`;
}

const MOST = 20;

/** Returns the first faults of a file: after those, a reader looks again. */
export function firstOf<T>(faults: readonly T[]): readonly T[] {
  return faults.slice(0, MOST);
}

/** Returns `, did you mean "schedule"?` where a known name is close enough, and nothing otherwise. */
export function didYouMean(given: string, known: readonly string[]): string {
  // Comparing takes time by the length of both.
  const near = given.length > 100 ? undefined : nearest(given, known);
  return near === undefined ? '' : `, did you mean "${near}"?`;
}
