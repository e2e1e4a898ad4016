import { nearest } from '../nearest.ts';

/** A fault in a file. Lines and columns count from 1. */
export interface Fault {
  /** Path from the folder of `ras.yaml`, with forward slashes. */
  readonly file: string;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  readonly message: string;
}

/** Some files are faulty, so nothing was done. */
export class FaultyFiles extends Error {
  override readonly name: string = 'FaultyFiles';
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    super(faults.map(faultLine).join('\n'));
    this.faults = faults;
  }
}

/** Formats a fault like a compiler, so that editors find it: `routines/weekly.md:4:3: unknown field "shedule"`. */
export function faultLine({ file, line, column, message }: Fault): string {
  const place = [file, line, column].filter((part) => part !== undefined).join(':');
  return `${place}: ${message}`;
}

const MOST = 20;

/** Returns the first faults of a file; later ones often follow from them. */
export function firstOf<T>(faults: readonly T[]): readonly T[] {
  return faults.slice(0, MOST);
}

/** Returns `, did you mean "schedule"?` when a known name is close enough, else nothing. */
export function didYouMean(given: string, known: readonly string[]): string {
  // Long words are not compared, because the time of a comparison grows with both lengths.
  const near = given.length > 100 ? undefined : nearest(given, known);
  return near === undefined ? '' : `, did you mean "${near}"?`;
}
