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
  /** Takes the library's own warnings, which are dropped without it. */
  readonly log?: Log;
}

/** Names the header that our server sets from the socket or a trusted proxy; a client's own is dropped. */
export const CLIENT_ADDRESS_HEADER = 'x-client-address';

/** The person behind a request's session cookie. */
export interface Session {
  readonly id: string;
  readonly userId: string;
}

export interface Auth {
  /** Serves `/auth/*`. */
  handler(request: Request): Promise<Response>;
  /** Finds the session of the cookie in these headers. */
  session(headers: Headers): Promise<Session | undefined>;
}

/** Sets up better-auth (email and password) over our own tables. Signing up makes an organization and a project. */
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
 * Asks the database directly after an error of the library, which turns all of them into one server error: if the
 * database cannot be reached, this throws what the HTTP face shows as 503.
 */
async function askDatabase(database: Database): Promise<void> {
  await row(database, sql`select 1`);
}

/** Builds the options alone; the drift test compares them with our migrations. */
export function authOptions(settings: AuthSettings) {
  return {
    database: settings.database,
    baseURL: settings.publicUrl,
    basePath: '/auth',
    secret: settings.secret,
    trustedOrigins: [settings.uiOrigin],
    telemetry: { enabled: false },
    // Unexpected errors reach our own error handling, instead of an empty 500 and a line on stderr.
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
          // Signing up creates a session too, so this covers both. `after` runs once the account is committed.
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

/** Passes the library's messages to our log, with errors only: on the console they would escape redaction. */
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
