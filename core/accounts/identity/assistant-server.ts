import { AsyncLocalStorage } from 'node:async_hooks';
import { oauthProvider } from '@better-auth/oauth-provider';
import type { BetterAuthPlugin, Session } from 'better-auth';
import { createAuthMiddleware } from 'better-auth/api';
import { SCOPES } from '#core/accounts/organizations/index.ts';
import type { Db } from '#lib/database/index.ts';
import type { AuthSettings } from './auth-options.ts';

const HOUR = 60 * 60;
const DAY = 24 * HOUR;

/** Scope for a refresh token. Every assistant needs one, because assistants work while their person is away. */
const OFFLINE = 'offline_access';

/** Placeholder for the project until the person chooses one. No consent has this value, so the library always asks. */
const NONE = 'none';

/** The session of the person who decides, and the project that they chose; no project for a refusal. */
interface Consenting {
  readonly sessionId: string;
  readonly projectId: string | undefined;
}

const consenting = new AsyncLocalStorage<Consenting>();

/**
 * Runs a call of the library for the person who decides: the library uses that person's session, and stores the project
 * with the consent.
 */
export function consentingAs<T>(decision: Consenting, work: () => Promise<T>): Promise<T> {
  return consenting.run(decision, work);
}

/** Returns the one resource for which tokens are issued (RFC 8707). */
export function mcpResource(publicUrl: string): string {
  return `${publicUrl}/mcp`;
}

/** Inserts the row of the resource `/mcp`, which the library requires. */
export async function ensureMcpResource(db: Db, publicUrl: string): Promise<void> {
  const resource = mcpResource(publicUrl);
  await db.run`
    insert into oauth_resources (id, identifier, name) values (${resource}, ${resource}, 'MCP')
    on conflict (identifier) do nothing
  `;
}

/** Returns the prefix that distinguishes tokens from API keys. Tokens are hashed without the prefix. */
export function tokenPrefix(productTag: string, kind: 'access' | 'refresh'): string {
  return `${productTag}_${kind === 'access' ? 'at' : 'rt'}_`;
}

/**
 * Sets up the library's authorization server for assistants: codes with PKCE, refresh tokens that rotate, and opaque
 * access tokens, so that a revocation takes effect with the next request. Clients are public and have no secret.
 */
export function assistantProvider(settings: AuthSettings): BetterAuthPlugin {
  const { productTag, uiOrigin, registersClients = false } = settings;
  const page = `${uiOrigin}/authorize`;
  const plugin: unknown = oauthProvider({
    loginPage: page,
    consentPage: page,
    postLogin: {
      page,
      shouldRedirect: () => false,
      consentReferenceId: () => consenting.getStore()?.projectId ?? NONE,
    },
    scopes: [...SCOPES, OFFLINE],
    grantTypes: ['authorization_code', 'refresh_token'],
    disableJwtPlugin: true,
    // Any client may use the one resource. The first request inserts the row of the resource, because Postgres may be
    // away at start.
    enforcePerClientResources: false,
    allowDynamicClientRegistration: registersClients,
    allowUnauthenticatedClientRegistration: registersClients,
    accessTokenExpiresIn: HOUR,
    refreshTokenExpiresIn: 30 * DAY,
    // Give a repeated request the same response: the first response may be lost, or two workers of an assistant may
    // ask.
    refreshTokenReuseInterval: 30,
    prefix: {
      opaqueAccessToken: tokenPrefix(productTag, 'access'),
      refreshToken: tokenPrefix(productTag, 'refresh'),
    },
    // Allow many requests from one address: a hosted assistant calls for all of its people from a few addresses.
    rateLimit: {
      authorize: { window: 60, max: 60 },
      token: { window: 60, max: 600 },
      revoke: { window: 60, max: 600 },
      register: { window: 60, max: 5 },
    },
    schema: TABLES,
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its types ignore `exactOptionalPropertyTypes`
  return plugin as BetterAuthPlugin;
}

/** Gives the library the session of a consent. This service has already checked person and origin. */
export const consentSession: BetterAuthPlugin = {
  id: 'consent-session',
  hooks: {
    before: [
      {
        matcher: ({ path }) => path === '/oauth2/consent',
        handler: createAuthMiddleware(async (ctx) => {
          const { sessionId } = consenting.getStore() ?? {};
          if (sessionId === undefined) return;
          const where = [{ field: 'id', value: sessionId }];
          const session = await ctx.context.adapter.findOne<Session>({ model: 'session', where });
          const user = session && (await ctx.context.internalAdapter.findUserById(session.userId));
          if (session && user) ctx.context.session = { session, user };
        }),
      },
    ],
  },
};

const times = { createdAt: 'created_at', updatedAt: 'updated_at' } as const;

const ofToken = {
  clientId: 'client_id',
  sessionId: 'session_id',
  userId: 'user_id',
  referenceId: 'reference_id',
  authorizationCodeId: 'authorization_code_id',
  requestedUserInfoClaims: 'requested_user_info_claims',
  expiresAt: 'expires_at',
  createdAt: 'created_at',
} as const;

/**
 * Maps the library's models to this service's tables. Two other models of the library belong to features that are off.
 */
const TABLES = {
  oauthClient: {
    modelName: 'oauth_clients',
    fields: {
      clientId: 'client_id',
      clientSecret: 'client_secret',
      clientDiscoveryId: 'client_discovery_id',
      skipConsent: 'skip_consent',
      enableEndSession: 'enable_end_session',
      subjectType: 'subject_type',
      clientCredentialsScopes: 'client_credentials_scopes',
      userId: 'user_id',
      ...times,
      softwareId: 'software_id',
      softwareVersion: 'software_version',
      softwareStatement: 'software_statement',
      redirectUris: 'redirect_uris',
      postLogoutRedirectUris: 'post_logout_redirect_uris',
      backchannelLogoutUri: 'backchannel_logout_uri',
      backchannelLogoutSessionRequired: 'backchannel_logout_session_required',
      tokenEndpointAuthMethod: 'token_endpoint_auth_method',
      applicationType: 'application_type',
      jwksUri: 'jwks_uri',
      grantTypes: 'grant_types',
      responseTypes: 'response_types',
      requirePKCE: 'require_pkce',
      dpopBoundAccessTokens: 'dpop_bound_access_tokens',
      referenceId: 'reference_id',
    },
  },
  oauthResource: {
    modelName: 'oauth_resources',
    fields: {
      accessTokenTtl: 'access_token_ttl',
      refreshTokenTtl: 'refresh_token_ttl',
      signingAlgorithm: 'signing_algorithm',
      signingKeyId: 'signing_key_id',
      allowedScopes: 'allowed_scopes',
      customClaims: 'custom_claims',
      dpopBoundAccessTokensRequired: 'dpop_bound_access_tokens_required',
      ...times,
      policyVersion: 'policy_version',
    },
  },
  oauthConsent: {
    modelName: 'oauth_consents',
    fields: {
      clientId: 'client_id',
      userId: 'user_id',
      referenceId: 'reference_id',
      requestedUserInfoClaims: 'requested_user_info_claims',
      ...times,
    },
  },
  oauthRefreshToken: {
    modelName: 'oauth_refresh_tokens',
    fields: {
      ...ofToken,
      rotatedAt: 'rotated_at',
      rotationReplayResponse: 'rotation_replay_response',
      rotationReplayExpiresAt: 'rotation_replay_expires_at',
      authTime: 'auth_time',
    },
  },
  oauthAccessToken: {
    modelName: 'oauth_access_tokens',
    fields: { ...ofToken, refreshId: 'refresh_id' },
  },
} as const;
