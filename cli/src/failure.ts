import { EXIT } from './exit-codes.ts';
import type { Account } from './profiles/account.ts';

export interface CliErrorOptions {
  /** Default 1. */
  readonly exitCode?: number;
  /** What to do about it, a line of its own. */
  readonly hint?: string | undefined;
  readonly cause?: unknown;
}

/** An error with words for the user; a command throws it to end with an exit code. */
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

/** Makes the error of a command line that cannot be meant. */
export function usageError(message: string, hint?: string): CliError {
  return new CliError(message, { exitCode: EXIT.usage, hint });
}

export interface Explanation {
  readonly lines: readonly string[];
  readonly exitCode: number;
}

/**
 * Puts an error into words for the user. Errors of the SDK are told by their name, so that the SDK need not be loaded.
 * @param account the one in use, if any
 */
export function explain(error: unknown, account: Account | undefined): Explanation {
  if (error instanceof CliError) return words(error.message, error.exitCode, error.hint);
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  const where = account?.baseUrl ?? 'the service';
  switch (name) {
    case 'Interrupted':
      return { lines: [], exitCode: EXIT.interrupted };
    case 'AuthenticationError':
      return words(...refused(where, account));
    case 'PermissionError':
      return words(
        `${message}${origin(error)}`,
        EXIT.failed,
        'Sign in again with more scopes, or use another key: ras whoami shows what this one may do.',
      );
    case 'ConnectionError':
      return words(
        `No connection to ${where}: ${reason(error)}`,
        EXIT.failed,
        'ras doctor looks for the cause.',
      );
    default:
      return words(`${message}${origin(error)}`, EXIT.failed);
  }
}

function words(message: string, exitCode: number, hint?: string): Explanation {
  return { lines: [`Error: ${message}`, ...(hint === undefined ? [] : [hint])], exitCode };
}

function refused(where: string, account: Account | undefined): [string, number, string] {
  const fromFile = account?.profile;
  return fromFile === undefined
    ? [
        `${where} does not accept the key in RAS_API_KEY: it is wrong, expired or revoked.`,
        EXIT.notSignedIn,
        'Set RAS_API_KEY to a key that is valid, or unset it and use ras login.',
      ]
    : [
        `${where} no longer accepts the key of profile "${fromFile}": it is expired or revoked.`,
        EXIT.notSignedIn,
        `Sign in again: ras login${fromFile === 'default' ? '' : ` --profile ${fromFile}`}`,
      ];
}

/** Returns the code of an error of the service and the id of its request, for whom the operator asks. */
function origin(error: unknown): string {
  const { code, requestId } = fieldsOf(error);
  const parts = [code, requestId].filter((part) => typeof part === 'string');
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}

/** Returns the deepest cause that says anything, such as "connect ECONNREFUSED 127.0.0.1:3000". */
function reason(error: unknown): string {
  let words = '';
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = fieldsOf(at);
    words = at.message || (typeof code === 'string' ? code : words);
  }
  return words;
}

/** Returns the fields of an object, and none of anything else. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every field of an object is unknown
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
