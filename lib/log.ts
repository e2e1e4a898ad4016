import { AsyncLocalStorage } from 'node:async_hooks';
import { pino, type Logger } from 'pino';
import { redactAuthorization } from './redact-authorization.ts';

export type Log = Logger;

/**
 * Creates a log that writes one line of JSON for each event to standard output. Removes fields that could contain a
 * credential at the first two levels, and credentials of `Authorization` headers in errors. Callers should not log
 * credentials at all; this is a second safeguard.
 */
export function createLog(options: { level: string; name: string }, write: (line: string) => void = writeLine): Log {
  return pino(
    {
      name: options.name,
      level: options.level,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      mixin: () => ({ ...fields.getStore() }),
      redact: { paths: SECRET_PATHS, censor: '[redacted]' },
      serializers: { err: describeError },
    },
    { write },
  );
}

// All logs of a process go to its one standard output. Lines of one turn of the event loop are written together,
// because a busy API logs many lines. A process that is killed loses the lines of its last turn.
const output = pino.destination({ fd: 1, sync: true });
let pending = '';

function writeLine(line: string): void {
  if (pending === '') setImmediate(writePending);
  pending += line;
}

function writePending(): void {
  if (pending !== '') output.write(pending);
  pending = '';
}

process.once('exit', writePending);

const fields = new AsyncLocalStorage<Readonly<Record<string, unknown>>>();

/** Adds these fields to every line that is logged during `work`: the ids of a request, a run, a project. */
export function withLogFields<T>(added: Readonly<Record<string, unknown>>, work: () => T): T {
  return fields.run(added, work);
}

const SECRET_FIELDS = ['authorization', 'cookie', 'password', 'secret', 'token', 'apiKey', 'key'];
const SECRET_PATHS = SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]);

/**
 * Keeps only the type, code, message, stack and cause of an error. Other properties may contain secrets: a driver's
 * error has the values of queries, an HTTP client's error whole requests.
 */
function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error };
  const code = 'code' in error ? error.code : undefined;
  return {
    type: error.name,
    code: typeof code === 'string' ? code : undefined,
    message: redactAuthorization(error.message),
    stack: error.stack === undefined ? undefined : redactAuthorization(error.stack),
    cause: error.cause === undefined ? undefined : describeError(error.cause),
  };
}
