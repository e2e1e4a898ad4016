import { z } from 'zod';
import * as deletion from '#core/upkeep/deletion/index.ts';
import * as accounts from '#core/models/connections/index.ts';
import * as modelProviders from '#core/models/providers/index.ts';
import { listReply } from '../../http/links.ts';
import { pageOf, pageQuery } from '../../http/schemas.ts';
import { route, type Route } from '../../route.ts';
import { connectModelAccountWithApiKey } from './api-key.ts';
import { modelProvider, presentProvider, viewerOf } from './descriptor-schema.ts';
import { deviceRoutes } from './device.ts';
import { oauthRoutes } from './oauth.ts';
import { modelConnection, modelConnectionParams, presentModelConnection } from './schemas.ts';

const tag = 'Model accounts';

const listModelProviders = route({
  method: 'GET',
  path: '/v1/model-connections/providers',
  id: 'listModelProviders',
  tag,
  summary: 'List the model providers',
  description:
    'The managed gateway and the three connected providers, also disabled ones. `viewer` says whether the caller can connect an account now, or why not.',
  auth: 'key-or-session',
  mcp: false,
  scope: 'connections:read',
  success: { status: 200, data: z.array(modelProvider), description: 'Four descriptors.' },
}).to(async ({ access, deps }) => {
  const described = await modelProviders.describeProviders(deps, viewerOf(access));
  return { data: described.map(presentProvider) };
});

const readKeyProvider = route({
  method: 'GET',
  path: '/v1/model-connections/provider-c',
  id: 'readKeyProvider',
  tag,
  summary: 'Read the provider that takes API keys',
  description: 'The descriptor says whether the provider is enabled, and on which page a person makes a key.',
  auth: 'key-or-session',
  mcp: false,
  scope: 'connections:read',
  success: { status: 200, data: modelProvider, description: 'The descriptor.' },
}).to(async ({ access, deps }) => ({
  data: presentProvider(await modelProviders.describeProvider(deps, 'provider-c', viewerOf(access))),
}));

const listModelConnections = route({
  method: 'GET',
  path: '/v1/model-connections',
  id: 'listModelConnections',
  tag,
  summary: 'List the personal model accounts of the project',
  description: 'All accounts of the project, also revoked ones, whose record stays. A response never has credentials.',
  auth: 'key-or-session',
  mcp: false,
  scope: 'connections:read',
  query: pageQuery('modelConnection', {}),
  success: { status: 200, data: z.array(modelConnection), description: 'Newest first.' },
}).to(async ({ access, query, deps }) => {
  const page = pageOf(query);
  const found = await accounts.listModelConnections(deps.database, access.projectId, page);
  return listReply(found, page, (each) => presentModelConnection(each, deps.modelProviders));
});

const listAccountModels = route({
  method: 'GET',
  path: '/v1/model-connections/:connectionId/models',
  id: 'listAccountModels',
  tag,
  summary: 'List the models of a personal account',
  description:
    'The provider’s last list, which the service refreshes in the background. Only for an account that is ready.',
  auth: 'key-or-session',
  mcp: false,
  scope: 'models:read',
  params: modelConnectionParams,
  success: {
    status: 200,
    data: z.array(
      z
        .strictObject({
          modelId: z.string(),
          name: z.string(),
          contextTokens: z.number().int().nullable(),
        })
        .meta({ id: 'AccountModel' }),
    ),
    description: "In the provider's order.",
  },
  errors: ['connection_not_ready', 'provider_disabled'],
}).to(async ({ access, params: { connectionId }, deps }) => {
  const models = await accounts.listModelsOfAccount(deps.database, deps.modelProviders, access.projectId, connectionId);
  return {
    data: models.map(({ id, name, contextTokens }) => ({ modelId: id, name, contextTokens })),
  };
});

const revokeModelConnection = route({
  method: 'POST',
  path: '/v1/model-connections/:connectionId/revoke',
  id: 'revokeModelConnection',
  tag,
  summary: 'Revoke a personal model account',
  description:
    'Ends the use of the account: its routines pause, and its credential is handed back to the provider, if that supports it, and then erased. The record stays. Revoking again returns the same record.',
  auth: 'owner-session',
  mcp: false,
  scope: 'connections:write',
  params: modelConnectionParams,
  success: { status: 200, data: modelConnection, description: 'The record that stays.' },
  errors: ['owner_required'],
}).to(async ({ access: { projectId }, by, params: { connectionId }, deps }) => {
  const revoked = await deletion.revokeModelConnection(deps, { projectId, connectionId, by });
  return { data: presentModelConnection(revoked, deps.modelProviders) };
});

export const modelConnectionRoutes: readonly Route[] = [
  listModelProviders,
  listModelConnections,
  listAccountModels,
  revokeModelConnection,
  ...deviceRoutes,
  ...oauthRoutes,
  readKeyProvider,
  connectModelAccountWithApiKey,
];
