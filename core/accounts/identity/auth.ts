import { betterAuth } from 'better-auth';
import type { Database } from '#lib/database/index.ts';
import { EMAIL_PATTERN } from '#lib/email-address.ts';
import { AppError } from '#lib/errors.ts';
import { z } from 'zod';
import { assistantProvider, consentingAs, consentSession } from './assistant-server.ts';
import { authOptions, type AuthSettings } from './auth-options.ts';
import { freshProof } from './proof.ts';
import { factorEnrolment } from './second-factor/enrolment.ts';
import { passkeys } from './second-factor/passkeys.ts';
import { factorSignIn } from './second-factor/sign-in.ts';
import { inLine } from './passwords.ts';

/** The person behind a request's session cookie. */
export interface Session {
  readonly id: string;
  readonly userId: string;
  readonly provenAt: Date;
  /** Cookies for the response. They tell the browser that the session was prolonged. */
  readonly setCookies: readonly string[];
}

export interface Auth {
  /** Serves `/auth/*`. */
  handler(request: Request): Promise<Response>;
  /** Finds the session of the cookie in these headers. */
  session(headers: Headers): Promise<Session | undefined>;
  /**
   * Answers an assistant's request for access with the decision of the signed-in person. The caller has checked their
   * rights.
   * @param decision.accepts the granted access; undefined for a refusal
   * @returns the address to which the browser goes
   * @throws {AppError} `attempt_expired` for a query that the library did not sign, or signed too long ago
   */
  decideConsent(decision: {
    readonly oauthQuery: string;
    readonly sessionId: string;
    readonly accepts: { readonly scope: string; readonly projectId: string } | undefined;
  }): Promise<string>;
}

const decided = z.object({ url: z.string() });

/** Sets up better-auth (email and password). A person who signs in and has no organization gets a new organization. */
export function createAuth(settings: AuthSettings): Auth {
  // Replace zod's own pattern, which the library uses: it refuses top-level domains in scripts other than Latin.
  z.regexes.email.test = (address) => EMAIL_PATTERN.test(address);
  const auth = betterAuth({
    ...authOptions(settings),
    plugins: [
      factorSignIn(settings),
      factorEnrolment(settings),
      passkeys(settings),
      freshProof(settings),
      consentSession,
      assistantProvider(settings),
    ],
  });
  const { database, publicUrl } = settings;
  const needsVerifiedAddress = settings.mails !== undefined;
  return {
    async handler(request) {
      const response = await inLine(() => auth.handler(request));
      if (response.status >= 500) await askDatabase(database);
      return response;
    },
    async decideConsent({ oauthQuery, sessionId, accepts }) {
      const { scope, projectId } = accepts ?? {};
      const request = new Request(`${publicUrl}/auth/oauth2/consent`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ accept: accepts !== undefined, scope, oauth_query: oauthQuery }),
      });
      const response = await consentingAs({ projectId, sessionId }, () => auth.handler(request));
      if (response.status >= 500) await askDatabase(database);
      const { data } = decided.safeParse(await response.json());
      if (response.ok && data !== undefined) return data.url;
      throw new AppError('attempt_expired', 'The request is not valid any more; begin again.');
    },
    async session(requestHeaders) {
      const { headers, response: found } = await auth.api
        .getSession({ headers: requestHeaders, returnHeaders: true })
        .catch(async (error: unknown) => {
          await askDatabase(database);
          throw error;
        });
      if (found === null) return undefined;
      // Refuse a session from before the service had a mail server: the person signs in again and gets a mail.
      if (needsVerifiedAddress && !found.user.emailVerified) return undefined;
      const { id, userId, provenAt } = found.session;
      return { id, userId, provenAt, setCookies: headers.getSetCookie() };
    },
  };
}

/** Throws if the database is away, so that the caller gets a 503. The library reports every error as a 500. */
async function askDatabase(database: Database): Promise<void> {
  await database.row`select 1`;
}
