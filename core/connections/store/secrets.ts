import type { SecretBox, SecretPlace } from '#lib/secrets/index.ts';

/** Credentials as they are stored: JSON, sealed to the row of their connection. */
export interface ConnectionSecrets {
  seal(connectionId: string, credentials: object): string;
  /** @throws when the text was altered, belongs to another connection, or is sealed under an unknown key */
  open(connectionId: string, sealed: string): unknown;
  /** The same for the query of a connection's address. */
  sealQuery(connectionId: string, query: string): string;
  /** @throws as `open` does */
  openQuery(connectionId: string, sealed: string): string;
}

export function createConnectionSecrets(box: SecretBox): ConnectionSecrets {
  return {
    seal: (connectionId, credentials) => box.seal(JSON.stringify(credentials), place(connectionId)),
    open: (connectionId, sealed) => JSON.parse(box.open(sealed, place(connectionId))) as unknown,
    sealQuery: (connectionId, query) => box.seal(query, queryPlace(connectionId)),
    openQuery: (connectionId, sealed) => box.open(sealed, queryPlace(connectionId)),
  };
}

function place(row: string): SecretPlace {
  return { table: 'connections', row, column: 'credentials' };
}
function queryPlace(row: string): SecretPlace {
  return {
    table: 'connections',
    row,
    column: 'url_query',
  };
}
