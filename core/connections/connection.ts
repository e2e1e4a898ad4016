export const CONNECTION_KINDS = ['tool_server', 'managed'] as const;
export type ConnectionKind = (typeof CONNECTION_KINDS)[number];

/** How requests to the tool server are authenticated. */
export const CONNECTION_AUTHS = ['none', 'bearer', 'headers', 'oauth', 'api_key'] as const;
export type ConnectionAuth = (typeof CONNECTION_AUTHS)[number];

export const CONNECTION_STATES = [
  'pending_authorization',
  'ready',
  'needs_reauthorization',
] as const;
export type ConnectionState = (typeof CONNECTION_STATES)[number];

/** What may be said of a connection that is not ready: fixed sentences, so that no server can write into them. */
export const CONNECTION_ERRORS = {
  authorization_pending: 'The sign-in has not been completed.',
  authorization_revoked: 'The provider no longer accepts the sign-in; connect again.',
  authorization_expired: 'The sign-in has expired and could not be renewed; connect again.',
  credentials_rejected: 'The server no longer accepts the credentials; connect again.',
  scopes_missing: 'The sign-in lacks a permission that the provider asks for; connect again.',
} as const;
export type ConnectionError = keyof typeof CONNECTION_ERRORS;

/** What the tool server says of itself; claims, cut to size. */
export interface ServerInfo {
  readonly name: string;
  readonly title: string | null;
  readonly version: string;
  readonly protocolVersion: string;
}

/** A connection as anyone may see it: the credentials stay in the database, see `readSealedCredentials`. */
export interface Connection {
  readonly id: string;
  readonly projectId: string;
  readonly kind: ConnectionKind;
  /** Of a managed connection. */
  readonly provider: string | null;
  readonly name: string;
  /** Of the MCP endpoint; null where the provider has none. Of a stored connection without the values of its query. */
  readonly url: string | null;
  /** The query, sealed: `withAddress` puts it back. Only a stored connection has it. */
  readonly sealedQuery?: string | null;
  readonly auth: ConnectionAuth;
  readonly accountLabel: string | null;
  /** Granted by the provider. */
  readonly scopes: readonly string[];
  readonly server: ServerInfo | null;
  readonly state: ConnectionState;
  readonly publicError: ConnectionError | null;
  readonly createdBy: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** When the server last answered a check. */
  readonly checkedAt: Date | null;
}
