import type { Connection, ConnectionAuth } from '../connection.ts';
import type { Provider } from './provider.ts';

/** A managed connection as it will be stored, but for what is learned by trying it. */
export function managedDraft(
  provider: Provider,
  input: {
    id: string;
    projectId: string;
    name: string | undefined;
    auth: ConnectionAuth;
    createdBy: string | null;
  },
): Connection {
  const now = new Date();
  return {
    id: input.id,
    projectId: input.projectId,
    kind: 'managed',
    provider: provider.id,
    name: input.name ?? provider.name,
    url: provider.toolServer,
    auth: input.auth,
    accountLabel: null,
    scopes: [],
    server: null,
    state: 'ready',
    publicError: null,
    createdBy: input.createdBy,
    createdAt: now,
    updatedAt: now,
    checkedAt: null,
  };
}
