import { z } from 'zod';
import * as connections from '#core/integrations/connections/index.ts';
import * as deletion from '#core/upkeep/deletion/index.ts';
import { invalid } from '#lib/errors.ts';
import type { Deps } from '../../deps.ts';
import { listReply } from '../../http/links.ts';
import { pageOf, pageQuery } from '../../http/schemas.ts';
import { routesOf, type Route } from '../../route.ts';
import {
  connection,
  connectionBody,
  connectionParams,
  connectionPatch,
  credentialsOf,
  deletedConnection,
  presentConnection,
} from './schemas.ts';

const route = routesOf('Connections');

const listConnections = route('GET /v1/connections', {
  id: 'listConnections',
  summary: 'List the connections of the project',
  description: 'Credentials are never part of a response.',
  mcp: { toolset: 'connections' },
  scope: 'connections:read',
  query: pageQuery('connection', {}),
  success: { data: z.array(connection), description: 'Newest first.' },
}).to(async ({ access, query, deps }) => {
  const page = pageOf(query);
  const found = await connections.listConnections(deps.database, access.projectId, page);
  return listReply(found, page, presentConnection);
});

const readConnection = route('GET /v1/connections/:connectionId', {
  id: 'readConnection',
  summary: 'Read a connection',
  mcp: { toolset: 'connections' },
  scope: 'connections:read',
  params: connectionParams,
  success: { data: connection, description: 'The connection.' },
}).to(async ({ access, params: { connectionId }, deps }) => ({
  data: presentConnection(await connections.readConnection(deps.database, access.projectId, connectionId)),
}));

const createConnection = route('POST /v1/connections', {
  id: 'createConnection',
  summary: 'Connect a tool server of your own',
  description:
    'Before the connection is stored, the server must respond at this address in MCP over Streamable HTTP and accept the credentials. A wrong address or credential is `invalid_request`; a server that cannot be reached or fails is `provider_error`.',
  scope: 'connections:write',
  body: connectionBody,
  idempotent: true,
  success: { status: 201, location: '/v1/connections/:id', data: connection, description: 'The connection, ready.' },
  errors: ['limit_reached', 'provider_error'],
}).to(async ({ access, by, body, deps, newId }) => {
  assertElsewhere(body.url, deps);
  const made = await connections.createToolServer(deps, {
    id: newId('connection'),
    projectId: access.projectId,
    name: body.name,
    url: body.url,
    credentials: credentialsOf(body),
    createdBy: access.actor.kind === 'session' ? access.actor.userId : null,
    by,
  });
  return { data: presentConnection(made) };
});

/**
 * Refuses this service's own address with a clear error. `/mcp` refuses the calls too, because runs could start runs
 * for ever.
 */
function assertElsewhere(url: string, { config }: Deps): void {
  const isOwn = originOf(url) === originOf(config.PUBLIC_URL);
  if (isOwn && !config.MCP_FROM_ROUTINES) {
    throw invalid([{ path: 'url', message: 'is an address of this service, which its own routines may not call' }]);
  }
}

function originOf(url: string): string | undefined {
  const parsed = URL.parse(url);
  return parsed === null ? undefined : `${parsed.protocol}//${parsed.hostname.replace(/\.$/, '')}:${parsed.port}`;
}

const updateConnection = route('PATCH /v1/connections/:connectionId', {
  id: 'updateConnection',
  summary: 'Rename a connection or replace its credentials',
  description:
    'New credentials are tried at the server first, and nothing changes unless it accepts them. A connection that was `needs_reauthorization` is then `ready` again. Id and tool policies stay, and routines keep their state. If a provider issued the credentials, only the name can be changed: sign in again with `connectionId`.',
  scope: 'connections:write',
  params: connectionParams,
  body: connectionPatch,
  success: { data: connection, description: 'The connection.' },
  errors: ['connection_not_ready', 'provider_error'],
}).to(async ({ access, by, params: { connectionId }, body, deps }) => {
  if (body.url !== undefined) assertElsewhere(body.url, deps);
  const ref = { projectId: access.projectId, connectionId };
  const change = { name: body.name, url: body.url, credentials: credentialsOf(body) ?? undefined };
  return { data: presentConnection(await connections.changeConnection(deps, by, ref, change)) };
});

const deleteConnection = route('DELETE /v1/connections/:connectionId', {
  id: 'deleteConnection',
  summary: 'Delete a connection with its credentials',
  description:
    'Deletes its tool policies too. Routines with an automatic tool of the connection go back to draft; `stateReason` says why. A sign-in is also revoked at its provider, if that supports it (RFC 7009); the response does not wait for that.',
  scope: 'connections:write',
  params: connectionParams,
  success: { data: deletedConnection, description: 'The deleted connection.' },
}).to(async ({ access, by, params: { connectionId }, deps }) => {
  const removed = await deletion.deleteConnection(deps, access.projectId, connectionId, by);
  return {
    data: { ...presentConnection(removed.connection), draftedRoutineIds: [...removed.routineIds] },
  };
});

export const connectionRoutes: readonly Route[] = [
  listConnections,
  readConnection,
  createConnection,
  updateConnection,
  deleteConnection,
];
