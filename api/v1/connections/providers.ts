import { z } from 'zod';
import {
  CATEGORIES,
  connectWithKey,
  listAccounts,
  readConnection,
  clientMetadataUrlOf,
  redirectUriOf,
  startSignIn,
  type Provider,
  type ProviderCatalogue,
} from '#core/integrations/connections/index.ts';
import type { Deps } from '../../deps.ts';
import { nameOf, timestamp } from '#lib/schemas.ts';
import { present } from '../../http/present.ts';
import { component, idOf, iso } from '../../http/schemas.ts';
import { routesOf, type Route } from '../../route.ts';
import { connection, connectionParams, presentConnection } from './schemas.ts';

const route = routesOf('Connections');

const provider = component('ConnectionProvider', {
  id: z.string().meta({ example: 'github' }),
  name: z.string().meta({ example: 'GitHub' }),
  category: z.enum(CATEGORIES),
  auth: z.enum(['oauth', 'api_key']).describe('How people connect: by signing in, or with an API key.'),
  configured: z
    .boolean()
    .describe('True when people can connect, because the operator has registered a client or no client is needed.'),
  scopes: z.array(z.string()).describe('Scopes of a sign-in.'),
  redirectUri: z.string().nullable().describe('Return address that the operator registers at the provider.'),
  toolServer: z.string().nullable().describe("Address of the provider's tool server; null without one."),
  listsAccounts: z.boolean(),
  keyPage: z.string().nullable().describe('Where a person makes an API key.'),
  documentation: z.string(),
});

const providerParams = z.strictObject({
  provider: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,60}$/)
    .meta({ description: 'Id of a managed provider.', example: 'github' }),
});

const listConnectionProviders = route('GET /v1/connections/providers', {
  id: 'listConnectionProviders',
  summary: 'List the managed providers',
  auth: 'key-or-session',
  success: { data: z.array(provider), description: 'By category and name.' },
}).to(async ({ deps }) => ({
  data: deps.providers.providers.map((each) => presentProvider(each, deps.providers, deps.config.UI_ORIGIN)),
}));

const startConnectionSignIn = route('POST /v1/connections/oauth/:provider/start', {
  id: 'startConnectionSignIn',
  summary: 'Begin to sign in to a provider or tool server',
  description:
    'Returns the address for the browser of this person. The provider sends the browser back to `redirectUri`, which forwards to `GET /oauth/callback/{provider}` within ten minutes. `tool-server` stands for your own tool server with a sign-in by the MCP authorization specification; it takes `url`. With `connectionId` an existing connection is signed in to again, with the scopes that its server has demanded. Only the session that begins a sign-in can end it.',
  auth: 'project-session',
  params: providerParams,
  bodyOptional: true,
  body: z.strictObject({
    connectionId: idOf('connection').optional(),
    name: nameOf(100).optional().describe('Name of a new connection.'),
    url: z
      .url({ protocol: /^https?$/ })
      .max(2_000)
      .optional()
      .describe('The MCP endpoint of a new connection to `tool-server`.'),
    clientId: z
      .string()
      .min(1)
      .max(2_000)
      .optional()
      .describe('The client that you registered, for an authorization server that does not register clients itself.'),
    clientSecret: z.string().min(1).max(2_000).optional(),
  }),
  success: {
    data: component('StartedSignIn', {
      authorizationUrl: z.string(),
      host: z.string().describe('Host of the sign-in address, to be shown before the browser leaves.'),
      redirectUri: z.string(),
      expiresAt: timestamp,
    }),
    description: 'Where to send the browser.',
  },
  errors: ['provider_disabled', 'connection_not_found', 'limit_reached', 'provider_error'],
}).to(async ({ access, params, body, deps }) => {
  const started = await startSignIn(signInDepsOf(deps), {
    projectId: access.projectId,
    userId: access.actor.userId,
    sessionId: access.actor.sessionId,
    provider: params.provider,
    connectionId: body.connectionId,
    name: body.name,
    url: body.url,
    client: body.clientId === undefined ? undefined : { id: body.clientId, secret: body.clientSecret },
  });
  return { data: { ...started, expiresAt: iso(started.expiresAt) } };
});

const connectWithApiKey = route('POST /v1/connections/api-key/:provider', {
  id: 'connectWithApiKey',
  summary: 'Connect a provider with an API key',
  description: 'The key is tried at the provider first. It is stored encrypted and never returned.',
  scope: 'connections:write',
  params: providerParams,
  body: z.strictObject({
    name: nameOf(100).optional().describe('Name of a new connection.'),
    connectionId: idOf('connection').optional().describe('Id of the connection whose key this one replaces.'),
    apiKey: z
      .string()
      .min(8)
      .max(4_000)
      .regex(/^[\x21-\x7e]+$/, 'printable ASCII without spaces'),
  }),
  idempotent: true,
  success: { status: 201, location: '/v1/connections/:id', data: connection, description: 'The connection, ready.' },
  errors: ['connection_not_found', 'limit_reached', 'provider_error'],
}).to(async ({ access, by, params, body, deps, newId }) => {
  const created = await connectWithKey(deps, {
    id: newId('connection'),
    connectionId: body.connectionId,
    projectId: access.projectId,
    provider: params.provider,
    name: body.name,
    apiKey: body.apiKey,
    by,
    createdBy: access.actor.kind === 'session' ? access.actor.userId : null,
  });
  return { data: presentConnection(created) };
});

const listConnectionAccounts = route('GET /v1/connections/:connectionId/accounts', {
  id: 'listConnectionAccounts',
  summary: 'List the accounts that a connection can see',
  description:
    'Asks the provider for its current sites, properties, workspaces or the like. Empty without such a list, for example for your own tool server.',
  scope: 'connections:read',
  params: connectionParams,
  success: {
    data: z.array(component('Account', { id: z.string(), name: z.string() })),
    description: "In the provider's order, at most 1,000.",
  },
  errors: ['connection_not_ready', 'provider_error'],
}).to(async ({ access, params: { connectionId }, deps }) => {
  const found = await readConnection(deps.database, access.projectId, connectionId);
  const accounts = await listAccounts(deps, found, AbortSignal.timeout(ACCOUNTS_TIMEOUT_MS));
  return { data: accounts.map(({ id, name }) => ({ id, name })) };
});

export const providerRoutes: readonly Route[] = [
  listConnectionProviders,
  startConnectionSignIn,
  connectWithApiKey,
  listConnectionAccounts,
];

export function signInDepsOf(deps: Deps) {
  const { UI_ORIGIN: uiOrigin, PUBLIC_URL: publicUrl } = deps.config;
  return { ...deps, uiOrigin, clientMetadataUrl: clientMetadataUrlOf(publicUrl) };
}

/** Timeout of listing accounts: enough to renew the credentials and make two calls. */
const ACCOUNTS_TIMEOUT_MS = 60_000;

function presentProvider(each: Provider, providers: ProviderCatalogue, uiOrigin: string) {
  const { auth } = each;
  return present(provider, {
    ...each,
    auth: auth.kind === 'api_key' ? ('api_key' as const) : ('oauth' as const),
    configured: providers.isConfigured(each),
    scopes: auth.kind === 'oauth' ? auth.scopes : [],
    redirectUri: auth.kind === 'api_key' ? null : redirectUriOf(uiOrigin, each.id),
    listsAccounts: each.accounts !== null,
    keyPage: auth.kind === 'api_key' ? auth.keyPage : null,
  });
}
