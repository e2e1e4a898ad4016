import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  startProtectedToolServer,
  type ProtectedToolServer,
} from '#dev/fakes/authorization-server/protected-tool-server.ts';
import type { AuthorizationServer, AuthorizationServerOptions } from '#dev/fakes/authorization-server/options.ts';
import { TOOLS_SCOPE } from '#dev/fakes/authorization-server/scope.ts';
import { startAuthorizationServer } from '#dev/fakes/authorization-server/server.ts';
import type { ApiClient } from '#test/support/client.ts';
import { signUp, type Person } from '#test/support/people.ts';
import { sharedService, startService, type Service, type ServiceOptions } from '#test/support/service.ts';
import { visit as followSignIn } from '#test/support/visit.ts';
import { startEverythingServer, type EverythingServer } from '#test/core/integrations/tools/everything-server.ts';
import { ahead, changeConnections } from '#test/support/given.ts';

export const CLIENT_SECRET = 'canary-client-secret-0123456789abcdef';
export const API_KEY = 'canary-api-key-0123456789';
export const UI_ORIGIN = 'http://localhost:5999';

export interface SignInFixture {
  readonly service: Service;
  readonly authorizationServer: AuthorizationServer;
  close(): Promise<void>;
}

/**
 * Starts the service with two managed providers at a local authorization server: `fixture` for sign-ins, `fixture-key`
 * for keys.
 */
export async function startSignInFixture(
  options: { accessTokenSeconds?: number; env?: Record<string, string> } = {},
): Promise<SignInFixture> {
  const authorizationServer = await startAuthorizationServer({
    port: 0,
    apiKey: API_KEY,
    accessTokenSeconds: options.accessTokenSeconds ?? 3600,
    clients: [
      {
        client_id: 'fixture-client',
        client_secret: CLIENT_SECRET,
        redirect_uris: ['fixture', 'fixture-other'].map((id) => `${UI_ORIGIN}/oauth/callback/${id}`),
        grant_types: ['authorization_code', 'refresh_token'],
        application_type: 'native',
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
  });
  const folder = await mkdtemp(path.join(tmpdir(), 'ras-providers-'));
  await Promise.all(
    Object.entries(providerFiles(authorizationServer.issuer)).map(([file, text]) =>
      writeFile(path.join(folder, file), text),
    ),
  );
  const service = await startService({
    env: {
      UI_ORIGIN,
      CONNECTION_PROVIDERS_DIR: folder,
      CONNECTION_FIXTURE_CLIENT_ID: 'fixture-client',
      CONNECTION_FIXTURE_CLIENT_SECRET: CLIENT_SECRET,
      ...options.env,
    },
  });
  return {
    service,
    authorizationServer,
    async close() {
      await service.close();
      await authorizationServer.stop();
      await rm(folder, { recursive: true });
    },
  };
}

function providerFiles(issuer: string): Record<string, string> {
  const signIn = (name: string) => `
name: ${name}
category: analytics
documentation: ${issuer}/docs
auth:
  kind: oauth
  client: FIXTURE
  issuer: ${issuer}
  authorizationEndpoint: ${issuer}/auth
  tokenEndpoint: ${issuer}/token
  revocationEndpoint: ${issuer}/token/revocation
  tokenEndpointAuth: client_secret_post
  scopes: [${TOOLS_SCOPE}, offline_access]
  authorizationParameters:
    prompt: consent
accounts:
  request:
    url: ${issuer}/accounts
  list: accounts.*
  id: id
  name: name
toolServer: null
`;
  return {
    'fixture.yaml': signIn('Fixture'),
    'fixture-other.yaml': signIn('Other fixture'),
    'fixture-key.yaml': `
name: Fixture with keys
category: seo
documentation: ${issuer}/docs
auth:
  kind: api_key
  keyPage: ${issuer}/keys
accounts:
  request:
    url: ${issuer}/accounts
  list: accounts.*
  id: id
  name: name
toolServer: null
`,
  };
}

export interface ProtectedFixture {
  readonly service: Service;
  readonly person: Person;
  readonly authorizationServer: AuthorizationServer;
  /** A tool server that needs a sign-in at the authorization server. */
  readonly toolServer: ProtectedToolServer;
  /** A tool server that needs no sign-in. */
  readonly everything: EverythingServer;
  close(): Promise<void>;
}

/** Starts a custom tool server that needs a sign-in beside the service that files share, and signs up a person. */
export async function startProtectedFixture(
  options: {
    worker?: boolean;
    env?: ServiceOptions['env'];
    authorizationServer?: Omit<AuthorizationServerOptions, 'port'>;
  } = {},
): Promise<ProtectedFixture> {
  const [service, authorizationServer, everything] = await Promise.all([
    sharedService({ worker: options.worker ?? false, env: { UI_ORIGIN, ...options.env } }),
    startAuthorizationServer({ port: 0, ...options.authorizationServer }),
    startEverythingServer(),
  ]);
  const upstream = everything.url;
  const toolServer = await startProtectedToolServer({ port: 0, authorizationServer, upstream });
  return {
    service,
    person: await signUp(service),
    authorizationServer,
    toolServer,
    everything,
    async close() {
      await toolServer.stop();
      await authorizationServer.stop();
      await everything.stop();
    },
  };
}

/** Sets the time until a connection's access token expires. */
export async function expireIn({ deps }: Service, id: string, seconds: number): Promise<void> {
  await changeConnections(deps.database, id, { credentialsExpireAt: ahead(`${seconds} seconds`) });
}

/** Reads the stored sign-in of a connection. */
export async function storedGrant(
  { deps }: Service,
  id: string,
): Promise<{ accessToken: string; refreshToken: string }> {
  const [stored] = await deps.database.rows<{
    credentials: string;
  }>`select credentials from connections where id = ${id}`;
  return deps.connectionSecrets.open(id, stored!.credentials) as never;
}

/** Follows an authorization URL like a browser, and returns the query with which the provider redirects it back. */
export async function visit(authorizationUrl: string): Promise<string> {
  return (await returnFrom(authorizationUrl)).search;
}

/** Follows an authorization URL, and returns the address to which the provider redirects the browser. */
export function returnFrom(authorizationUrl: string): Promise<URL> {
  return followSignIn(authorizationUrl, (url) => url.origin === UI_ORIGIN);
}

/** Signs in from start to end, and returns the response of the callback. */
export async function signIn(session: ApiClient, provider: string, body: object = {}) {
  const started = await session.post(`/v1/connections/oauth/${provider}/start`, body);
  if (started.status !== 200) throw new Error(JSON.stringify(started.body));
  return comeBack(session, await returnFrom(started.data.authorizationUrl));
}

/** Forwards the return from a provider, as the user interface does. */
export function comeBack(session: ApiClient, { pathname, search }: URL) {
  return session.get(`${pathname}${search}`);
}
