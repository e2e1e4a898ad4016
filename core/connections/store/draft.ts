import type { Connection, ConnectionAuth } from './connection.ts';

/** A connection that is not stored yet, as far as it is known before it is tried. */
export type ConnectionDraft = Omit<Connection, 'createdAt' | 'updatedAt' | 'sealedQuery'>;

interface ManagedProvider {
  readonly id: string;
  readonly name: string;
  /** Null where the provider runs no tool server. */
  readonly toolServer: string | null;
}

export interface DraftInput {
  readonly id: string;
  readonly projectId: string;
  /** A managed provider, or the address of a tool server of the user's own. */
  readonly to: ManagedProvider | { readonly url: string };
  /** Name of the connection; by default that of the provider, or the host of the address. */
  readonly name: string | undefined;
  readonly auth: ConnectionAuth;
  readonly createdBy: string | null;
}

export function draftConnection({ to, name, ...given }: DraftInput): ConnectionDraft {
  const destination =
    'url' in to
      ? ({
          kind: 'tool_server',
          provider: null,
          name: name ?? new URL(to.url).hostname,
          url: to.url,
        } as const)
      : ({
          kind: 'managed',
          provider: to.id,
          name: name ?? to.name,
          url: to.toolServer,
        } as const);
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
