import type { SecretBox, SecretPlace } from '#lib/secrets/index.ts';

/** Credentials as they are stored: JSON, sealed to the row of their connection. */
export interface ConnectionSecrets {
  seal(connectionId: string, credentials: object): string;
  /** @throws when the text was altered, belongs to another connection, or is sealed under an unknown key */
  open(connectionId: string, sealed: string): unknown;
}

export function createConnectionSecrets(box: SecretBox): ConnectionSecrets {
  return {
    seal: (connectionId, credentials) => box.seal(JSON.stringify(credentials), place(connectionId)),
    open: (connectionId, sealed) => JSON.parse(box.open(sealed, place(connectionId))) as unknown,
  };
}

const place = (row: string): SecretPlace => ({ table: 'connections', row, column: 'credentials' });
