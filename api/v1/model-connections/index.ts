import { z } from 'zod';
import * as deletion from '#core/upkeep/deletion/index.ts';
import * as accounts from '#core/models/connections/index.ts';
import * as modelProviders from '#core/models/providers/index.ts';
import { listReply } from '../../http/links.ts';
import { component, pageOf, pageQuery } from '../../http/schemas.ts';
import { routesOf, type Route } from '../../route.ts';
import { modelProvider, presentProvider, viewerOf } from './descriptor-schema.ts';
import { deviceRoutes, ownerOf } from './device.ts';
import { oauthRoutes } from './oauth.ts';
import {
  modelConnection,
  modelConnectionId,
  modelConnectionParams,
  presentModelConnection,
  SIGN_IN_ERRORS,
} from './schemas.ts';
import { nameOf } from '#lib/schemas.ts';

const route = routesOf('Model accounts');

const listModelProviders = route('GET /v1/model-connections/providers', {
  id: 'listModelProviders',
  summary: 'List the model providers',
  description:
    'The managed gateway and the three connected providers, also disabled ones. `viewer` says whether the caller can connect an account now, or why not.',
  scope: 'connections:read',
  success: { data: z.array(modelProvider), description: 'Four descriptors.' },
}).to(async ({ access, deps }) => {
  const described = await modelProviders.describeProviders(deps, viewerOf(access));
  return { data: described.map(presentProvider) };
});

const readKeyProvider = route('GET /v1/model-connections/provider-c', {
  id: 'readKeyProvider',
  summary: 'Read the provider that takes API keys',
  description: 'The descriptor says whether the provider is enabled, and on which page a person makes a key.',
  scope: 'connections:read',
  success: { data: modelProvider, description: 'The descriptor.' },
}).to(async ({ access, deps }) => ({
  data: presentProvider(await modelProviders.describeProvider(deps, 'provider-c', viewerOf(access))),
}));

const listModelConnections = route('GET /v1/model-connections', {
  id: 'listModelConnections',
  summary: 'List the personal model accounts of the project',
  description: 'All accounts of the project, also revoked ones, whose record stays. A response never has credentials.',
  scope: 'connections:read',
  query: pageQuery('modelConnection', {}),
  success: { data: z.array(modelConnection), description: 'Newest first.' },
}).to(async ({ access, query, deps }) => {
  const page = pageOf(query);
  const found = await accounts.listModelConnections(deps.database, access.projectId, page);
  return listReply(found, page, (each) => presentModelConnection(each, deps.modelProviders));
});

const listAccountModels = route('GET /v1/model-connections/:connectionId/models', {
  id: 'listAccountModels',
  summary: 'List the models of a personal account',
  description:
    'The provider’s last list, which the service refreshes in the background. Only for an account that is ready.',
  scope: 'models:read',
  params: modelConnectionParams,
  success: {
    data: z.array(
      component('AccountModel', {
        modelId: z.string(),
        name: z.string(),
        contextTokens: z.number().int().nullable(),
      }),
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

const revokeModelConnection = route('POST /v1/model-connections/:connectionId/revoke', {
  id: 'revokeModelConnection',
  summary: 'Revoke a personal model account',
  description:
    'Ends the use of the account: its routines pause, and its credential is handed back to the provider, if that supports it, and then erased. The record stays. Revoking again returns the same record.',
  auth: 'owner-session',
  scope: 'connections:write',
  params: modelConnectionParams,
  success: { data: modelConnection, description: 'The record that stays.' },
  errors: ['owner_required'],
}).to(async ({ access: { projectId }, by, params: { connectionId }, deps }) => {
  const revoked = await deletion.revokeModelConnection(deps, { projectId, connectionId, by });
  return { data: presentModelConnection(revoked, deps.modelProviders) };
});

const connectModelAccountWithApiKey = route('POST /v1/model-connections/provider-c/api-key', {
  id: 'connectModelAccountWithApiKey',
  summary: 'Connect an account at a model provider with an API key',
  description:
    'The key is tried at the provider first, by a request that costs nothing, then stored encrypted and never returned. The same key again renews its connection; with `connectionId` the key of that connection is replaced.',
  auth: 'owner-session',
  scope: 'connections:write',
  body: z.strictObject({
    apiKey: z
      .string()
      .min(8)
      .max(4_000)
      .regex(/^[\x21-\x7e]+$/, 'printable ASCII without spaces'),
    accountLabel: nameOf(100).optional().describe('Shown to everybody in the project; by default the end of the key.'),
    connectionId: modelConnectionId.optional(),
  }),
  success: { data: modelConnection, description: 'The account.' },
  errors: SIGN_IN_ERRORS,
}).to(async ({ access, by, body, deps }) => {
  const connected = await accounts.connectModelAccountWithKey(deps, {
    ...ownerOf(access),
    apiKey: body.apiKey,
    connectionId: body.connectionId ?? null,
    label: body.accountLabel ?? null,
    by,
  });
  return { data: presentModelConnection(connected, deps.modelProviders) };
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
