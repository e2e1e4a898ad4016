import type { Connection } from './connection.ts';
import type { ConnectionSecrets } from './credentials.ts';

/**
 * The address of a tool server in its two halves. Some servers take their key in the query, so its values are stored
 * sealed, and the half that can be read says only which there are.
 */
export interface SplitAddress {
  /** Names of the query are kept; each value, and each part without a name, is `[redacted]`. */
  readonly shown: string;
  /** The part behind the question mark; null where there is none. */
  readonly query: string | null;
}

export function splitAddress(url: string): SplitAddress {
  const mark = url.indexOf('?');
  if (mark === -1) return { shown: url, query: null };
  const query = url.slice(mark + 1);
  return { shown: `${url.slice(0, mark)}?${query.split('&').map(withoutValue).join('&')}`, query };
}

/**
 * Puts the query back into the address of a stored connection, right before the server is asked, so that keys do not
 * travel through everything else.
 */
export function withAddress(secrets: ConnectionSecrets, connection: Connection): Connection {
  const { id, url, sealedQuery } = connection;
  if (url === null || sealedQuery === undefined || sealedQuery === null) return connection;
  const { shown } = splitAddress(url);
  const [base = shown] = shown.split('?', 1);
  return { ...connection, url: `${base}?${secrets.openQuery(id, sealedQuery)}`, sealedQuery: null };
}

/** Recognizes an address, or a part of one, that a caller sends back as it was shown. */
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
