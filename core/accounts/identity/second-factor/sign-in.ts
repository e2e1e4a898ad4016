import type { BetterAuthPlugin } from 'better-auth';
import { APIError, createAuthEndpoint, createAuthMiddleware } from 'better-auth/api';
import { deleteSessionCookie, expireCookie, setSessionCookie } from 'better-auth/cookies';
import { generateRandomString } from 'better-auth/crypto';
import type { AuthSettings } from '../auth-options.ts';
import { createFactorCheck, factorProof } from './check.ts';
import { findSecondFactor } from './store.ts';

/** Names the cookie of a person who gave the right password and not yet the code. */
const COOKIE = 'second_factor';
const CHALLENGE_SECONDS = 10 * 60;

/**
 * Asks for the second factor after the password. The session that the library has already made is deleted, and its
 * token is never sent.
 */
export function factorSignIn(settings: AuthSettings): BetterAuthPlugin {
  const { database } = settings;
  const check = createFactorCheck(settings);
  return {
    id: 'second-factor-sign-in',
    hooks: {
      after: [
        {
          // Include the link that confirms a changed address: it would otherwise sign the person in without their
          // second factor.
          matcher: ({ path }) => path === '/sign-in/email' || path === '/verify-email',
          handler: createAuthMiddleware(async (ctx) => {
            const { newSession, session: present, internalAdapter, secret } = ctx.context;
            if (!newSession || newSession.session.id === present?.session.id) return undefined;
            const { user, session } = newSession;
            if ((await findSecondFactor(database, user.id)) === undefined) return undefined;
            deleteSessionCookie(ctx, true);
            await internalAdapter.deleteSession(session.token);
            ctx.context.setNewSession(null);
            if (ctx.path !== '/sign-in/email') return undefined;
            const { name, attributes } = ctx.context.createAuthCookie(COOKIE, {
              maxAge: CHALLENGE_SECONDS,
            });
            const identifier = `second-factor-${generateRandomString(32)}`;
            await internalAdapter.createVerificationValue({
              identifier,
              value: user.id,
              expiresAt: new Date(Date.now() + CHALLENGE_SECONDS * 1_000),
            });
            await ctx.setSignedCookie(name, identifier, secret, attributes);
            return ctx.json({ secondFactorRequired: true });
          }),
        },
      ],
    },
    endpoints: {
      signInSecondFactor: createAuthEndpoint(
        '/sign-in/second-factor',
        { method: 'POST', body: factorProof },
        async (ctx) => {
          const { internalAdapter, secret, authCookies } = ctx.context;
          const cookie = ctx.context.createAuthCookie(COOKIE);
          const identifier = await ctx.getSignedCookie(cookie.name, secret);
          if (!identifier) throw challengeOver();
          const challenge = await internalAdapter.findVerificationValue(identifier);
          const user = challenge && (await internalAdapter.findUserById(challenge.value));
          if (!user) throw challengeOver();
          if (!(await check.accept(user, ctx.body, ctx.headers))) {
            throw new APIError('UNAUTHORIZED', {
              code: 'invalid_code',
              message: 'The code is wrong or was used before.',
            });
          }
          // Complete a sign-in only once, even if two requests bring good codes.
          if (!(await internalAdapter.consumeVerificationValue(identifier))) throw challengeOver();
          const { name } = authCookies.dontRememberToken;
          const isShort = Boolean(await ctx.getSignedCookie(name, secret));
          const session = await internalAdapter.createSession(user.id, isShort);
          await setSessionCookie(ctx, { session, user });
          expireCookie(ctx, cookie);
          return ctx.json({ user });
        },
      ),
    },
  };
}

function challengeOver(): APIError {
  return new APIError('UNAUTHORIZED', {
    code: 'sign_in_expired',
    message: 'Sign in with your password again.',
  });
}
