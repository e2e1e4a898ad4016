import { EXIT } from './exit-codes.ts';

export interface CliErrorOptions {
  /** Exit code of `ras`, by default 1. */
  readonly exitCode?: number;
  /** Advice for the user, on a line of its own. */
  readonly hint?: string | undefined;
  readonly cause?: unknown;
}

/** An error with words for the user, and the exit code. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: number;
  readonly hint: string | undefined;

  constructor(message: string, { exitCode = EXIT.failed, hint, cause }: CliErrorOptions = {}) {
    super(message, { cause });
    this.exitCode = exitCode;
    this.hint = hint;
  }
}

/** Makes the error of a wrong command line. */
export function usageError(message: string, hint?: string): CliError {
  return new CliError(message, { exitCode: EXIT.usage, hint });
}

/** Returns the deepest cause that has a message, such as "connect ECONNREFUSED 127.0.0.1:3000". */
export function reason(error: unknown): string {
  let words = '';
  for (let at = error; at instanceof Error; at = at.cause) {
    const code = 'code' in at ? String(at.code) : '';
    words = at.message || code || words;
  }
  return words;
}

/** Returns the fields of an object; any other value has none. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every field of an object is unknown
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
