import type { ServerInfo } from '#core/clients/mcp/index.ts';

export const CONNECTION_KINDS = ['tool_server', 'managed'] as const;
export type ConnectionKind = (typeof CONNECTION_KINDS)[number];

/** Lists the ways in which requests to a tool server are authenticated. */
export const CONNECTION_AUTHS = ['none', 'bearer', 'headers', 'oauth', 'api_key'] as const;
export type ConnectionAuth = (typeof CONNECTION_AUTHS)[number];

export const CONNECTION_STATES = ['pending_authorization', 'ready', 'needs_reauthorization'] as const;
export type ConnectionState = (typeof CONNECTION_STATES)[number];

/** Reasons why a connection is not ready: fixed sentences, so that no server can write into them. */
export const CONNECTION_ERRORS = {
  authorization_pending: 'The sign-in has not been completed.',
  authorization_revoked: 'The provider no longer accepts the sign-in; connect again.',
  authorization_expired: 'The sign-in has expired and could not be renewed; connect again.',
  credentials_rejected: 'The server no longer accepts the credentials; connect again.',
  person_left: 'The person who signed in has left the organization; connect again.',
  scopes_missing: 'The sign-in lacks a permission that the provider asks for; connect again.',
} as const;
export type ConnectionError = keyof typeof CONNECTION_ERRORS;

/** A connection without its credentials, which stay in the database: see `readSealedCredentials`. */
export interface Connection {
  readonly id: string;
  readonly projectId: string;
  readonly kind: ConnectionKind;
  /** The managed provider; null for the user's own tool server. */
  readonly provider: string | null;
  readonly name: string;
  /** MCP endpoint; null if the provider runs none. The values of its query are left out. */
  readonly url: string | null;
  /** The sealed query of the address, which `withAddress` puts back. Only stored connections have a sealed query. */
  readonly sealedQuery?: string | null;
  readonly auth: ConnectionAuth;
  readonly accountLabel: string | null;
  /** Scopes that the provider granted. */
  readonly scopes: readonly string[];
  readonly server: ServerInfo | null;
  readonly state: ConnectionState;
  readonly publicError: ConnectionError | null;
  readonly createdBy: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Last time that the server passed a check. */
  readonly checkedAt: Date | null;
}

/** A connection before it is tried and stored. */
export type ConnectionDraft = Omit<Connection, 'createdAt' | 'updatedAt' | 'sealedQuery'>;

interface ManagedProvider {
  readonly id: string;
  readonly name: string;
  /** Address of the tool server; null if the provider runs none. */
  readonly toolServer: string | null;
}

export interface DraftInput extends Pick<Connection, 'id' | 'projectId' | 'auth' | 'createdBy'> {
  /** A managed provider, or the address of the user's own tool server. */
  readonly to: ManagedProvider | { readonly url: string };
  /** Name of the connection; default: the name of the provider, or the host of the address. */
  readonly name: string | undefined;
}

export function draftConnection({ to, name, ...given }: DraftInput): ConnectionDraft {
  const destination: Pick<ConnectionDraft, 'kind' | 'provider' | 'name' | 'url'> =
    'url' in to
      ? { kind: 'tool_server', provider: null, name: name ?? new URL(to.url).hostname, url: to.url }
      : { kind: 'managed', provider: to.id, name: name ?? to.name, url: to.toolServer };
  return {
    ...given,
    ...destination,
    accountLabel: null,
    scopes: [],
    server: null,
    state: 'ready',
    publicError: null,
    checkedAt: null,
  };
}
