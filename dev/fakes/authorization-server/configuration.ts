import { generateKeyPairSync, randomBytes } from 'node:crypto';
import type { Configuration } from 'oidc-provider';
import { ALL_SCOPES } from './scope.ts';
import type { AuthorizationServer, AuthorizationServerOptions } from './options.ts';

/** Configures `oidc-provider`; `control` is read at every request. */
export function configuration(
  { clients = [], registration = true, readClientMetadata }: AuthorizationServerOptions,
  control: AuthorizationServer['control'],
): Configuration {
  return {
    clients,
    scopes: ['openid', 'email', 'offline_access', ...ALL_SCOPES.split(' ')],
    claims: { openid: ['sub'], email: ['email'] },
    conformIdTokenClaims: false,
    ...(readClientMetadata === undefined ? {} : { fetch: readClientMetadata }),
    jwks: { keys: [signingKey()] },
    cookies: { keys: [randomBytes(32).toString('hex')] },
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: (_, client) => client.grantTypeAllowed('refresh_token'),
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({ sub: id, email: `${id}@fixture.example` }),
    }),
    ttl: {
      AccessToken: () => control.accessTokenSeconds,
      AuthorizationCode: 60,
      DeviceCode: 600,
      Grant: 86_400,
      IdToken: 3600,
      Interaction: 600,
      RefreshToken: 86_400,
      Session: 86_400,
    },
    features: {
      devInteractions: { enabled: false },
      deviceFlow: { enabled: true },
      introspection: { enabled: true },
      revocation: { enabled: true },
      registration: { enabled: registration },
      clientIdMetadataDocument: { enabled: readClientMetadata !== undefined, ack: 'draft-02' },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => [],
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: ALL_SCOPES,
          accessTokenFormat: 'opaque',
          accessTokenTTL: control.accessTokenSeconds,
        }),
      },
    },
  };
}

function signingKey() {
  return {
    ...generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }),
    kid: 'fixture',
    use: 'sig',
    alg: 'RS256',
  };
}
