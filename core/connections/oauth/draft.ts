import type { Connection } from '../connection.ts';

/** A connection to a self-managed tool server as it will be stored after the sign-in. */
export function toolServerDraft(input: {
  id: string;
  projectId: string;
  name: string;
  url: string;
  createdBy: string | null;
}): Connection {
  const now = new Date();
  return {
    ...input,
    kind: 'tool_server',
    provider: null,
    auth: 'oauth',
    accountLabel: null,
    scopes: [],
    server: null,
    state: 'ready',
    publicError: null,
    createdAt: now,
    updatedAt: now,
    checkedAt: null,
  };
}
