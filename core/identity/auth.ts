import { betterAuth, type BetterAuthOptions } from 'better-auth';
import { row, sql, type Database } from '#lib/database/index.ts';
import type { Log } from '#lib/log.ts';
import { ensureOrganization } from './organizations.ts';

export interface AuthSettings {
  readonly database: Database;
  /** Origin of this API, for cookies and links; never taken from the Host header. */
  readonly publicUrl: string;
  readonly uiOrigin: string;
  readonly secret: string;
  readonly productTag: string;
  /** Without one the library's own warnings go nowhere. */
  readonly log?: Log;
}

/** Set by our server from the socket or a trusted proxy hop; whatever the client sent under it is dropped. */
export const CLIENT_ADDRESS_HEADER = 'x-client-address';

/** The person behind a request's session cookie. */
export interface Session {
  readonly id: string;
  readonly userId: string;
}

export interface Auth {
  /** Serves `/auth/*`. */
  handler(request: Request): Promise<Response>;
  /** The session of the cookie in these headers, or undefined. */
  session(headers: Headers): Promise<Session | undefined>;
}

/** better-auth (email and password) over our own tables. Signing up makes an organization and its default project. */
export function createAuth(settings: AuthSettings): Auth {
  const auth = betterAuth(authOptions(settings));
  return {
    async handler(request) {
      const response = await auth.handler(request);
      if (response.status >= 500) await askDatabase(settings.database);
      return response;
    },
    async session(headers) {
      const found = await auth.api.getSession({ headers }).catch(async (error: unknown) => {
        await askDatabase(settings.database);
        throw error;
      });
      return found === null ? undefined : { id: found.session.id, userId: found.session.userId };
    },
  };
}

/**
 * The library turns every fault into the same server error, and a database that cannot be reached is not one of ours:
 * asked directly, it throws what the HTTP face knows as 503.
 */
async function askDatabase(database: Database): Promise<void> {
  await row(database, sql`select 1`);
}

/** The options alone, which the drift test compares with our migrations. */
export function authOptions(settings: AuthSettings) {
  return {
    database: settings.database,
    baseURL: settings.publicUrl,
    basePath: '/auth',
    secret: settings.secret,
    trustedOrigins: [settings.uiOrigin],
    telemetry: { enabled: false },
    // What is not the caller's fault comes to our own error handling, instead of an empty 500 and a line on stderr.
    onAPIError: { throw: true },
    logger: authLogger(settings.log),
    emailAndPassword: { enabled: true, minPasswordLength: 10, maxPasswordLength: 128 },
    advanced: {
      cookiePrefix: settings.productTag,
      ipAddress: { ipAddressHeaders: [CLIENT_ADDRESS_HEADER] },
    },
    rateLimit: {
      enabled: true,
      storage: 'database',
      modelName: 'auth_rate_limits',
      fields: { lastRequest: 'last_request' },
    },
    databaseHooks: {
      session: {
        create: {
          // Signing up creates a session too, so this covers both. `after` comes when the account is committed.
          after: async (session, context) => {
            const user = await context?.context.internalAdapter.findUserById(session.userId);
            if (user) await ensureOrganization(settings.database, user);
          },
        },
      },
    },
    user: {
      modelName: 'users',
      fields: { emailVerified: 'email_verified', ...timestamps },
    },
    session: {
      modelName: 'sessions',
      fields: {
        userId: 'user_id',
        expiresAt: 'expires_at',
        ipAddress: 'ip_address',
        userAgent: 'user_agent',
        ...timestamps,
      },
    },
    account: {
      modelName: 'accounts',
      fields: {
        userId: 'user_id',
        accountId: 'account_id',
        providerId: 'provider_id',
        accessToken: 'access_token',
        refreshToken: 'refresh_token',
        idToken: 'id_token',
        accessTokenExpiresAt: 'access_token_expires_at',
        refreshTokenExpiresAt: 'refresh_token_expires_at',
        ...timestamps,
      },
    },
    verification: {
      modelName: 'verifications',
      fields: { expiresAt: 'expires_at', ...timestamps },
    },
  } satisfies BetterAuthOptions;
}

const timestamps = { createdAt: 'created_at', updatedAt: 'updated_at' } as const;

/** The library would write to the console, past redaction. Of what it adds to a message only errors are taken over. */
function authLogger(log: Log | undefined) {
  return {
    disabled: log === undefined,
    level: 'warn' as const,
    log: (level: 'debug' | 'info' | 'warn' | 'error', message: string, ...added: unknown[]) => {
      const err = added.find((value) => value instanceof Error);
      log?.[level === 'error' ? 'error' : 'warn'](
        err === undefined ? {} : { err },
        `auth: ${message}`,
      );
    },
  };
}
