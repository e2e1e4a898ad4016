import type { AuthorizationServer } from '../authorization-server/options.ts';
import { startAuthorizationServer } from '../authorization-server/server.ts';
import type { Log } from '../../stack/child.ts';
import { startProviders, type FixtureProviders } from './server.ts';

/** Clients that an operator would have registered. Both are public: PKCE and the device code replace a secret. */
export const FIXTURE_CLIENTS = { a: 'fixture-device-client', b: 'fixture-sign-in-client' } as const;

export interface FixtureSignIn {
  readonly providers: FixtureProviders;
  readonly authorizationServer: AuthorizationServer;
  stop(): Promise<void>;
}

/** Starts model providers with an authorization server whose tokens they accept. */
export async function startSignInProviders(options: {
  readonly ports: { readonly providers: number; readonly authorizationServer: number };
  /** Addresses to which the authorization server may send a browser back. */
  readonly redirectUris: string[];
  readonly log: Log;
}): Promise<FixtureSignIn> {
  const authorizationServer = await startAuthorizationServer({
    port: options.ports.authorizationServer,
    clients: [
      {
        client_id: FIXTURE_CLIENTS.a,
        grant_types: ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'],
        response_types: [],
        redirect_uris: [],
        application_type: 'native',
        token_endpoint_auth_method: 'none',
      },
      {
        client_id: FIXTURE_CLIENTS.b,
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        redirect_uris: options.redirectUris,
        application_type: 'native',
        token_endpoint_auth_method: 'none',
      },
    ],
  });
  const providers = await startProviders({
    port: options.ports.providers,
    log: options.log,
    isAccessToken: async (token) => (await authorizationServer.accessToken(token)) !== undefined,
  });
  return {
    providers,
    authorizationServer,
    async stop() {
      await providers.stop();
      await authorizationServer.stop();
    },
  };
}
