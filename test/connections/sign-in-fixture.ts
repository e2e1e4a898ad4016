import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { TOOLS_SCOPE } from '#dev/authorization-server/scope.ts';
import {
  startAuthorizationServer,
  type AuthorizationServer,
} from '#dev/authorization-server/server.ts';
import type { ApiClient } from '../support/client.ts';
import { startService, type Service } from '../support/service.ts';

export const CLIENT_SECRET = 'canary-client-secret-0123456789abcdef';
export const API_KEY = 'canary-api-key-0123456789';
export const UI_ORIGIN = 'http://localhost:5999';

export interface SignInFixture {
  readonly service: Service;
  readonly authorizationServer: AuthorizationServer;
  close(): Promise<void>;
}

/** The service with two managed providers at a local authorization server: `fixture` by signing in, `fixture-key` by key. */
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
        redirect_uris: ['fixture', 'fixture-other'].map(
          (id) => `${UI_ORIGIN}/oauth/callback/${id}`,
        ),
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

/** What a browser does with an authorization URL, up to where the provider sends it back: the query of the return. */
export async function visit(authorizationUrl: string): Promise<string> {
  const jar = new Map<string, string>();
  let url = new URL(authorizationUrl);
  for (let hop = 0; hop < 10; hop++) {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (name !== undefined && value !== undefined) jar.set(name, value);
    }
    const location = response.headers.get('location');
    if (location === null)
      throw new Error(`${url.pathname} answered ${response.status}: ${await response.text()}`);
    url = new URL(location, url);
    if (url.origin === UI_ORIGIN) return url.search;
  }
  throw new Error('too many redirects');
}

/** Signs in from start to end; the answer of the callback. */
export async function signIn(session: ApiClient, provider: string, body: object = {}) {
  const started = await session.post(`/v1/connections/oauth/${provider}/start`, body);
  if (started.status !== 200) throw new Error(JSON.stringify(started.body));
  const query = await visit(started.data.authorizationUrl);
  return session.get(`/oauth/callback/${provider}${query}`);
}
