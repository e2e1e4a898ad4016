import type { Connection } from './connection.ts';
import type { ConnectionSecrets } from './secrets.ts';

/**
 * The address of a tool server in its two halves. Some servers take their key in the query, so its values are stored
 * sealed, and the half that can be read says only which there are.
 */
export interface SplitAddress {
  /** Names of the query are kept; each value, and each part without a name, is `[redacted]`. */
  readonly shown: string;
  /** What stands behind the question mark; null where there is none. */
  readonly query: string | null;
}

export function splitAddress(url: string): SplitAddress {
  const mark = url.indexOf('?');
  if (mark === -1) return { shown: url, query: null };
  const query = url.slice(mark + 1);
  return { shown: `${url.slice(0, mark)}?${query.split('&').map(withoutValue).join('&')}`, query };
}

/**
 * A stored connection with the address that can be called. Done where the server is about to be asked, so that keys
 * do not travel through everything else.
 */
export function withAddress(secrets: ConnectionSecrets, connection: Connection): Connection {
  const { id, url, sealedQuery } = connection;
  if (url === null || sealedQuery === undefined || sealedQuery === null) return connection;
  const { shown } = splitAddress(url);
  const [base = shown] = shown.split('?', 1);
  return { ...connection, url: `${base}?${secrets.openQuery(id, sealedQuery)}`, sealedQuery: null };
}

/**
 * The values of an address's query that have to be kept out of what a tool answers: those that are called a secret or
 * look like one. The others are names of projects and the like, which an answer may well hold.
 */
export function secretsInAddress(url: string): string[] {
  return [...new URL(url).searchParams].flatMap(([name, value]) => {
    if (value === '') return OPAQUE.test(name) ? [name] : [];
    return SECRET_NAME.test(name) || OPAQUE.test(value) ? [value] : [];
  });
}

const SECRET_NAME = /key|token|secret|auth|pass|pwd|sig|cred|code/i;
const OPAQUE = /^(?=.*\d)(?=.*[a-z])[\w.~+/=-]{16,}$/i;

/** Whether somebody sends back an address, or a part of it, as it was shown to them. */
export function isRedacted(url: string): boolean {
  const parts = splitAddress(url).query?.split('&') ?? [];
  return parts.some((part) => part !== '' && part === withoutValue(part));
}

function withoutValue(part: string): string {
  if (part === '') return part;
  const equals = part.indexOf('=');
  return equals === -1 ? REDACTED : `${part.slice(0, equals)}=${REDACTED}`;
}

const REDACTED = '[redacted]';
