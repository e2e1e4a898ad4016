import type { BetterAuthOptions } from 'better-auth';
import { APIError } from 'better-auth/api';
import { ensureOrganization } from '#core/accounts/organizations/index.ts';
import { throttle } from '#core/foundation/rate-limits/index.ts';
import { now } from '#lib/clock.ts';
import type { Database } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import type { Log } from '#lib/log.ts';
import type { SecretBox } from '#lib/secrets/index.ts';
import { authHooks, type SignUpMode } from './auth-hooks.ts';
import { LINK_SECONDS, type AuthMails } from './auth-mails.ts';
import { createKnownBrowsers } from './guesses.ts';
import { SLOW_HASHES, twoAtATime, type PasswordHashes } from './passwords.ts';

export interface AuthSettings {
  readonly database: Database;
  /** Origin of this API, for cookies and links. The Host header is never used for them. */
  readonly publicUrl: string;
  readonly uiOrigin: string;
  readonly secret: string;
  /** Seals the secrets of second factors. */
  readonly secrets: SecretBox;
  readonly productTag: string;
  readonly signUp: SignUpMode;
  /** True if assistants may register themselves (RFC 7591); false by default. */
  readonly registersClients?: boolean;
  /** The most organizations that one person may found. */
  readonly maxOrganizations: number;
  /** Mails about accounts; undefined without a mail server: addresses then stay unverified. */
  readonly mails: AuthMails | undefined;
  /** Takes a person out of all their organizations, before their account is deleted. @throws {AppError} `last_owner` */
  readonly leaveOrganizations: (userId: string) => Promise<void>;
  /** Ends everything that programs may do in a person's name: API keys, terminals and assistants. */
  readonly endPrograms: (userId: string) => Promise<void>;
  /** Replaces the library's scrypt, which takes a twentieth of a second for each hash, on purpose. */
  readonly passwords?: PasswordHashes | undefined;
  /** Receives the library's warnings. Without a log the warnings are dropped. */
  readonly log?: Log;
}

/** Names the header that this server sets from the socket or a trusted proxy; a client's own header is dropped. */
export const CLIENT_ADDRESS_HEADER = 'x-client-address';

const DAY = 24 * LINK_SECONDS;

/** A session ends a week after it was last prolonged, and at the latest a month after the sign-in. */
const SESSION_SECONDS = 7 * DAY;
const ABSOLUTE_SESSION_MS = 30 * DAY * 1_000;

/**
 * Names the session's cookie. Over https it has the prefix `__Host-`: browsers then accept it only from exactly this
 * host, so that no other host of the domain can set a session.
 */
export function sessionCookieName(options: { publicUrl: string; productTag: string }): string {
  return `${cookiePrefix(options)}.session_token`;
}

function cookiePrefix(options: { publicUrl: string; productTag: string }): string {
  return `${options.publicUrl.startsWith('https:') ? '__Host-' : ''}${options.productTag}`;
}

/** Builds the options of the library, which a test compares with this service's migrations. */
export function authOptions(settings: AuthSettings) {
  const { database, mails, publicUrl, maxOrganizations, secret, log } = settings;
  const browsers = createKnownBrowsers({ secret, cookiePrefix: cookiePrefix(settings) });
  return {
    database,
    baseURL: publicUrl,
    basePath: '/auth',
    secret,
    trustedOrigins: [settings.uiOrigin],
    telemetry: { enabled: false },
    // Throw unexpected errors to this service's error handling. After a faulty request of an assistant, the person gets
    // a page with an explanation.
    onAPIError: { throw: true, errorURL: `${settings.uiOrigin}/authorize` },
    logger: authLogger(log),
    hooks: authHooks({ database, signUp: settings.signUp, browsers, endPrograms: settings.endPrograms, log }),
    emailAndPassword: {
      enabled: true,
      minPasswordLength: 10,
      maxPasswordLength: 128,
      password: twoAtATime(settings.passwords ?? SLOW_HASHES),
      // Return no session, because it would show whether the address had an account.
      autoSignIn: false,
      requireEmailVerification: mails !== undefined,
      revokeSessionsOnPasswordReset: true,
      resetPasswordTokenExpiresIn: LINK_SECONDS,
      ...(mails && {
        sendResetPassword: ({ user, token }) => mails.passwordReset(user.email, token),
        onExistingUserSignUp: ({ user }) => mails.accountExists(user.email),
      }),
    },
    emailVerification: {
      expiresIn: LINK_SECONDS,
      ...(mails && {
        sendOnSignUp: true,
        sendOnSignIn: true,
        sendVerificationEmail: ({ user, url }) => mails.verification(user.email, url),
      }),
    },
    advanced: {
      cookiePrefix: cookiePrefix(settings),
      // Leave the prefix out: the library would add `__Secure-`, which lets other hosts of the domain set the cookie.
      useSecureCookies: false,
      defaultCookieAttributes: { secure: publicUrl.startsWith('https:') },
      ipAddress: { ipAddressHeaders: [CLIENT_ADDRESS_HEADER] },
      // The library checks the schema only once: an API started before its migrations would refuse sign-ins until a
      // restart.
      database: { validateSchema: false },
    },
    rateLimit: {
      enabled: true,
      customRules: {
        // The library does not count sign-ins: this service counts them, by account and browser.
        '/sign-in/email': false,
        '/delete-user': { window: 10, max: 3 },
        '/reset-password': { window: 10, max: 10 },
      },
      customStorage: {
        async consume(key, { max: limit, window: windowSeconds }) {
          const wait = await throttle(database, { name: 'auth', limit, windowSeconds }, key);
          return { allowed: wait === undefined, retryAfter: wait ?? null };
        },
      },
    },
    databaseHooks: {
      session: {
        create: {
          // `after` runs once the session is committed.
          after: async (session, context) => {
            const user = await context?.context.internalAdapter.findUserById(session.userId);
            const address = session.ipAddress ?? null;
            if (user) await ensureOrganization(database, user, { address, maxOrganizations });
          },
        },
        update: {
          before: async ({ expiresAt }, context) => {
            const createdAt = context?.context.session?.session.createdAt;
            if (expiresAt === undefined || createdAt === undefined) return undefined;
            const last = createdAt.getTime() + ABSOLUTE_SESSION_MS;
            return { data: { expiresAt: new Date(Math.min(expiresAt.getTime(), last)) } };
          },
        },
      },
    },
    user: {
      modelName: 'users',
      fields: { emailVerified: 'email_verified', ...timestamps },
      changeEmail: {
        enabled: mails !== undefined,
        ...(mails && {
          sendChangeEmailConfirmation: ({ user, newEmail, url }) => mails.changeOfAddress(user.email, newEmail, url),
        }),
      },
      deleteUser: {
        enabled: true,
        beforeDelete: ({ id }) => settings.leaveOrganizations(id).catch(refuseDeletion),
      },
    },
    session: {
      modelName: 'sessions',
      expiresIn: SESSION_SECONDS,
      updateAge: DAY,
      fields: {
        userId: 'user_id',
        expiresAt: 'expires_at',
        ipAddress: 'ip_address',
        userAgent: 'user_agent',
        ...timestamps,
      },
      additionalFields: {
        /** Last time that the person proved who they are. A sign-in is a proof. */
        provenAt: {
          type: 'date',
          required: true,
          input: false,
          fieldName: 'proven_at',
          defaultValue: () => new Date(now()),
        },
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
      // The identifier contains a token for a new password. Hash it, so that a copy of the database opens no account.
      storeIdentifier: 'hashed',
      fields: { expiresAt: 'expires_at', ...timestamps },
    },
  } satisfies BetterAuthOptions;
}

function refuseDeletion(error: unknown): never {
  if (!(error instanceof AppError)) throw error;
  throw new APIError('CONFLICT', {
    code: error.code,
    message: 'You are the last owner of an organization: hand it over or delete it first.',
  });
}

const timestamps = { createdAt: 'created_at', updatedAt: 'updated_at' } as const;

/**
 * Writes the library's messages to this service's log, because the log redacts and the console does not. Keeps only the
 * text and an error of each message.
 */
function authLogger(log: Log | undefined) {
  return {
    disabled: log === undefined,
    level: 'warn' as const,
    log: (level: 'debug' | 'info' | 'warn' | 'error', message: string, ...added: unknown[]) => {
      const err = added.find((value) => value instanceof Error);
      log?.[level === 'error' ? 'error' : 'warn'](err === undefined ? {} : { err }, `auth: ${message}`);
    },
  };
}
