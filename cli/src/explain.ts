import { EXIT } from './exit-codes.ts';
import { CliError, fieldsOf, reason } from './failure.ts';
import type { Account } from './profiles/account.ts';

export interface Explanation {
  readonly lines: readonly string[];
  readonly exitCode: number;
}

/**
 * Describes an error to the user. Errors of the SDK are recognized by name, so that the SDK need not be loaded.
 * @param account the account in use, if any
 */
export function explain(error: unknown, account: Account | undefined): Explanation {
  if (error instanceof CliError) return words(error.message, error.exitCode, error.hint);
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  const where = account?.baseUrl ?? 'the service';
  const file = ofFile(error);
  if (file !== undefined) return words(file, EXIT.failed);
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
      return words(`No connection to ${where}: ${reason(error)}`, EXIT.failed, 'ras doctor looks for the cause.');
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

const FILE_ERRORS: Readonly<Record<string, string>> = {
  EACCES: 'access is denied',
  EISDIR: 'it is a folder',
  ENOENT: 'there is no such file',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'its path leads through a file',
  EPERM: 'access is denied',
  EROFS: 'the disk is read-only',
};

/** Describes an error of the file system; undefined for other errors. */
function ofFile(error: unknown): string | undefined {
  const { code, path, dest = path } = fieldsOf(error);
  const what = FILE_ERRORS[String(code)];
  return typeof dest === 'string' && what !== undefined ? `${dest}: ${what}.` : undefined;
}

/** Returns the code of an error of the service and the id of its request, which the operator needs. */
function origin(error: unknown): string {
  const { code, requestId } = fieldsOf(error);
  const parts = [code, requestId].filter((part) => typeof part === 'string');
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}
