import { SYSTEM } from '#core/audit/index.ts';
import { insertConnection } from '#core/connections/index.ts';
import type { Service } from './service.ts';

/** Puts a connected tool server into a project, with its token sealed, without asking that server for anything. */
export async function plantConnection(
  { deps: { database, connectionSecrets } }: Pick<Service, 'deps'>,
  projectId: string,
  { id, url, token }: { id: string; url: string; token: string },
): Promise<void> {
  await insertConnection(database, connectionSecrets, SYSTEM, {
    id,
    projectId,
    kind: 'tool_server',
    provider: null,
    name: 'Planted',
    url,
    auth: 'bearer',
    accountLabel: null,
    scopes: [],
    server: null,
    state: 'ready',
    publicError: null,
    createdBy: null,
    checkedAt: null,
    credentialsExpireAt: null,
    sealedCredentials: connectionSecrets.seal(id, { token }),
  });
}
